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

void print_text(const NormProblem &problem, const TuneReport &report, const KnownCpu &cpu) {
    print("{}\n", to_text(problem));
    for (const Choice &choice : report.selection.choices) {
        print("  rows={:<6} {:>10.0f} cycles, heuristic {:>10.0f} cycles, {:.2f}x  {}\n", choice.rows,
              choice.nanoseconds, choice.reference_nanoseconds, 1 / choice.ratio, choice.knobs);
    }
    print("  simulated for {}, not measured, {}\n", cpu.name, time_text(report.seconds * 1e9));
    flush_output();  // the next problem takes a while
}

Json report_json(const TuneRequest &request, const TuneReport &report, const KnownCpu &cpu) {
    Json json = json_of(request.problem);
    json["target"] = target_name(request.target);
    json["hardware"] = signature(hardware_of(cpu));
    json["source"] = name_of(kTimeSources, TimeSource::simulated);
    json["seconds"] = report.seconds;
    for (const Choice &choice : report.selection.choices) {
        json["choices"].push_back({{"rows", choice.rows},
                                   {"knobs", choice.knobs},
                                   {"cycles", choice.nanoseconds},
                                   {"heuristic_cycles", choice.reference_nanoseconds},
                                   {"ratio", choice.ratio}});
    }
    return json;
}

}  // namespace

StaticTuning::StaticTuning(CLI::App &command) : command_(command) {
    add_flag(
        command, "--static", is_static_,
        "Run nothing: simulate schedules for a --cpu that need not be here. The results are marked as such, and "
        "lose to any that were measured");
    add_value(command, "--cpu", "CPU", cpu_, "The CPU of --static: " + cpu_names());
}

bool StaticTuning::is_asked_for() const {
    if (is_static_ && cpu_.empty()) {
        throw UsageError("--static needs the --cpu to simulate: " + cpu_names());
    }
    if (!is_static_ && !cpu_.empty()) {
        throw UsageError("--cpu is for --static; without it kernels are measured on this machine's");
    }
    for (const char *other : {"--resume", "--budget"}) {
        if (is_static_ && command_.count(other) > 0) {
            throw UsageError(fmt::format("--static excludes {}, which is for measuring", other));
        }
    }
    if (is_static_ && command_.count("--if-missing") > 0) {
        throw UsageError("--static excludes --if-missing, which asks what is known for this machine");
    }
    if (is_static_) {
        cpu();
    }
    return is_static_;
}

void StaticTuning::run(const TuneCommand &request) const {
    const Halide::Target target =
        command_.count("--target") == 0 ? kernel_target(cpu().target) : request.target.target();
    for (const ProblemRows &each : request.problems) {
        require_rankable(each.problem, target, cpu());
    }
    Database database = Database::open(request.database);
    const KnownDatabases databases{.own = &database, .shipped = &shipped_database()};
    check_order(databases, request.quiet);
    Json results = Json::array();
    for (const auto &[problem, rows] : request.problems) {
        const TuneRequest own{problem,        target,       rows,
                              request.effort, request.seed, tuning_seeds(databases, problem, target)};
        TuneReport report;
        {
            Progress progress(progress_mode(request.quiet));
            report = rank_statically(own, cpu(), database, progress);
        }
        results.push_back(report_json(own, report, cpu()));
        if (!request.json) {
            print_text(problem, report, cpu());
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
