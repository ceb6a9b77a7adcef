#include "autotune/cli/static_tuning.h"

#include <fmt/format.h>

#include "autotune/base/enum_text.h"
#include "autotune/base/units.h"
#include "autotune/cli/json_forms.h"
#include "autotune/cli/shipped_database.h"
#include "autotune/cli/standard_streams.h"
#include "autotune/search/model_check.h"
#include "autotune/search/seeds.h"
#include "autotune/search/static_ranking.h"
#include "schedules/gpu_space.h"
#include "schedules/target.h"

namespace normforge {

namespace {

// Throws UserError where the model's order says too little.
void check_order(const KnownDatabases &databases, bool quiet) {
    std::optional<ModelCheck> check;
    {
        Progress progress(progress_mode(quiet));
        check = check_model(databases, progress);
    }
    if (!check) {
        note("the static model's rank correlation is unknown: nothing that would tell was measured on this "
             "machine");
        return;
    }
    const std::string text =
        fmt::format("the static model's rank correlation with {} trials measured on this machine is {:.2f}, the "
                    "median of {} problems and numbers of rows; the least is {:.2f}",
                    check->trials, check->median, check->groups, check->least);
    if (check->median < kLeastCorrelation) {
        throw UserError(
            fmt::format("{}. Below {} it says too little, so nothing was ranked", text, kLeastCorrelation));
    }
    note(text);
}

// What a ranking was for, and whether its samples hold cycles or nanoseconds.
struct Ranked {
    const char *name;
    Hardware hardware;
    bool has_cycles;

    std::string amount(double samples) const {
        return has_cycles ? fmt::format("{:.0f} cycles", samples) : time_text(samples);
    }
};

void print_text(const NormProblem &problem, const TuneReport &report, const Ranked &ranked) {
    print("{}\n", to_text(problem));
    for (const Choice &choice : report.selection.choices) {
        print("  rows={:<6} {}, heuristic {}, {:.2f}x  {}\n", choice.rows, ranked.amount(choice.nanoseconds),
              ranked.amount(choice.reference_nanoseconds), 1 / choice.ratio, choice.knobs);
    }
    print("  simulated for {}, not measured, {}\n", ranked.name, time_text(report.seconds * 1e9));
    flush_output();  // the next problem takes a while
}

Json report_json(const TuneRequest &request, const TuneReport &report, const Ranked &ranked) {
    Json json = json_of(request.problem);
    json["target"] = target_name(request.target);
    json["hardware"] = signature(ranked.hardware);
    json["source"] = name_of(kTimeSources, TimeSource::simulated);
    json["seconds"] = report.seconds;
    const std::string unit = ranked.has_cycles ? "cycles" : "ns";
    for (const Choice &choice : report.selection.choices) {
        json["choices"].push_back({{"rows", choice.rows},
                                   {"knobs", choice.knobs},
                                   {unit, choice.nanoseconds},
                                   {"heuristic_" + unit, choice.reference_nanoseconds},
                                   {"ratio", choice.ratio}});
    }
    return json;
}

}  // namespace

StaticTuning::StaticTuning(CLI::App &command)
    : command_(command),
      static_option_(add_flag(command, "--static", is_static_,
                              "Run nothing: simulate schedules for a --cpu or --device that need not be here. The "
                              "results are marked as such, and lose to any that were measured")),
      cpu_option_(add_value(command, "--cpu", "CPU", cpu_, "The CPU of --static: " + cpu_names())),
      device_(command, "The GPU of --static") {}

bool StaticTuning::is_asked_for() const {
    const bool is_static = static_option_->count() > 0;
    const bool has_cpu = cpu_option_->count() > 0;
    if (is_static && !has_cpu && !device_.is_given()) {
        throw UsageError(fmt::format("--static needs the --cpu to simulate: {}; or the --device: {}", cpu_names(),
                                     gpu_names()));
    }
    if (has_cpu && device_.is_given()) {
        throw UsageError("--cpu excludes --device: schedules are ranked for one at a time");
    }
    if (!is_static && (has_cpu || device_.is_given())) {
        throw UsageError(fmt::format("{} is for --static; without it kernels are measured on this machine's",
                                     has_cpu ? "--cpu" : "--device"));
    }
    for (const char *other : {"--resume", "--budget"}) {
        if (is_static && command_.count(other) > 0) {
            throw UsageError(fmt::format("--static excludes {}, which is for measuring", other));
        }
    }
    if (is_static && command_.count("--if-missing") > 0) {
        throw UsageError("--static excludes --if-missing, which asks what is known for this machine");
    }
    if (is_static && device_.is_given()) {
        device_.device();
    } else if (is_static) {
        cpu();
    }
    return is_static;
}

Hardware StaticTuning::hardware() const {
    return device_.is_given() ? hardware_of(device_.device()) : hardware_of(cpu());
}

Halide::Target StaticTuning::target(const TuneCommand &request) const {
    if (!request.target.is_given()) {
        return kernel_target(device_.is_given() ? kCudaTarget : cpu().target);
    }
    const Halide::Target target = request.target.target();
    if (is_cuda(target) != device_.is_given()) {
        throw UsageError(device_.is_given()
                             ? fmt::format("--device: {} runs no kernels for {}; allowed is {}",
                                           device_.device().name, target_name(target), kCudaTarget)
                             : fmt::format("--cpu: {} runs no kernels for {}; give a --device of {}", cpu().name,
                                           kCudaTarget, gpu_names()));
    }
    return target;
}

void StaticTuning::run(const TuneCommand &request) const {
    const Halide::Target target = this->target(request);
    const bool is_gpu = device_.is_given();
    for (const ProblemRows &each : request.problems) {
        if (is_gpu) {
            gpu_heuristic(each.problem);  // throws where there is none
        } else {
            require_rankable(each.problem, target, cpu());
        }
    }
    const Ranked ranked =
        is_gpu ? Ranked{device_.device().name, hardware(), false} : Ranked{cpu().name, hardware(), true};
    Database database = Database::open(request.database);
    const KnownDatabases databases{.own = &database, .shipped = &shipped_database()};
    if (!is_gpu) {
        check_order(databases, request.quiet);
    }
    Json results = Json::array();
    for (const auto &[problem, rows] : request.problems) {
        TuneRequest own{problem, target, rows, request.effort, request.seed};
        TuneReport report;
        {
            Progress progress(progress_mode(request.quiet));
            if (is_gpu) {
                report = rank_statically(own, device_.device(), database, progress);
            } else {
                own.known = tuning_seeds(databases, problem, target);
                report = rank_statically(own, cpu(), database, progress);
            }
        }
        results.push_back(report_json(own, report, ranked));
        if (!request.json) {
            print_text(problem, report, ranked);
        }
    }
    if (request.json) {
        print_json(results);
    }
}

const KnownCpu &StaticTuning::cpu() const {
    return *parse_option("--cpu", [&] { return &known_cpu(cpu_); });
}

}  // namespace normforge
