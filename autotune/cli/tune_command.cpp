#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "autotune/base/enum_text.h"
#include "autotune/cli/commands.h"
#include "autotune/cli/json_forms.h"
#include "autotune/cli/options.h"
#include "autotune/search/resolver.h"
#include "autotune/search/tuner.h"
#include "schedules/target.h"

namespace normforge {

namespace {

struct TuneOptions {
    explicit TuneOptions(CLI::App &command)
        : problems(command), rows(command, "1,512"), target(command), db(command) {
        command.add_option("--effort", effort, "How many schedules to try: " + names_of(kEfforts))
            ->capture_default_str();
        command.add_option("--seed", seed, "Of the order in which schedules are tried")->capture_default_str();
        command.add_flag("--if-missing", if_missing, "Skip problems that the database has a valid result for");
        command.add_flag("--json", json, "Print the results as JSON");
        command.add_flag("--quiet", quiet, "Show no progress");
    }

    ProblemOptions problems;
    RowsOption rows;
    TargetOption target;
    DatabaseOption db;
    std::string effort = "quick";
    uint64_t seed = 1;
    bool if_missing = false;
    bool json = false;
    bool quiet = false;
};

Effort parse_effort(const std::string &text) {
    try {
        return value_named(kEfforts, text);
    } catch (const UserError &error) {
        throw UsageError(std::string("--effort: ") + error.what());
    }
}

std::string count_text(const std::map<TrialStatus, int> &trials) {
    std::string text;
    for (const auto &[status, count] : trials) {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name_of(kTrialStatuses, status));
    }
    return text;
}

void print_text(const NormProblem &problem, const TuneReport &report) {
    fmt::print("{}\n", to_text(problem));
    for (const Choice &choice : report.selection.choices) {
        fmt::print("  {:>5} row{} {:>10.4g} us, heuristic {:>10.4g} us, {:.2f}x  {}\n", choice.rows,
                   choice.rows == 1 ? ": " : "s:", choice.nanoseconds / 1e3, choice.reference_nanoseconds / 1e3,
                   1 / choice.ratio, choice.knobs);
    }
    fmt::print("  noise {:.1f} %, trials: {}, {:.1f} s\n", report.selection.noise * 100, count_text(report.trials),
               report.seconds);
    std::fflush(stdout);
}

Json report_json(const TuneRequest &request, const TuneReport &report) {
    Json json = json_of(request.problem);
    json["target"] = target_name(request.target);
    json["hardware"] = signature(detect_hardware());
    json["seconds"] = report.seconds;
    for (const auto &[status, count] : report.trials) {
        json["trials"][name_of(kTrialStatuses, status)] = count;
    }
    json.update(json_of(report.selection));
    return json;
}

std::vector<NormProblem> without_known(const std::vector<NormProblem> &problems, const Halide::Target &target,
                                       const std::string &path) {
    if (!std::filesystem::exists(path)) {
        return problems;
    }
    const Database database = Database::open_read_only(path);
    std::vector<NormProblem> missing;
    for (const ResolvedKernel &kernel : resolve(problems, {target}, &database)) {
        if (kernel.tuned) {
            fmt::print(stderr, "{}: already {}\n", to_text(kernel.problem), kernel.source);
        } else {
            missing.push_back(kernel.problem);
        }
    }
    return missing;
}

void tune_problems(const TuneOptions &options) {
    const Effort effort = parse_effort(options.effort);
    const Halide::Target target = options.target.only_target();
    std::vector<NormProblem> problems = options.problems.problems();
    const std::vector<int64_t> rows = options.rows.rows();
    const std::string path = options.db.path();
    if (options.if_missing) {
        problems = without_known(problems, target, path);
    }
    Database database = Database::open(path);
    Json results = Json::array();
    for (const NormProblem &problem : problems) {
        const TuneRequest request{problem, target, rows, effort, options.seed};
        TuneReport report;
        {
            Progress progress(options.quiet ? Progress::Mode::silent : Progress::Mode::automatic);
            report = tune(request, database, progress);
        }
        if (options.json) {
            results.push_back(report_json(request, report));
        } else {
            print_text(problem, report);
        }
    }
    if (options.json) {
        fmt::print("{}\n", results.dump(2));
    }
}

}  // namespace

void add_tune_command(CLI::App &program, Run &run) {
    CLI::App &command = *program.add_subcommand(
        "tune", "Measure schedules on this machine and keep every trial in the tuning database");
    auto options = std::make_shared<TuneOptions>(command);
    command.callback([options, &run] { run = [options] { tune_problems(*options); }; });
}

}  // namespace normforge
