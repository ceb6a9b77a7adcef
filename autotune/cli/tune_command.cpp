#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <limits>
#include <memory>

#include "autotune/base/enum_text.h"
#include "autotune/cli/commands.h"
#include "autotune/cli/json_forms.h"
#include "autotune/cli/launched_tuning.h"
#include "autotune/cli/options.h"
#include "autotune/cli/problem_options.h"
#include "autotune/cli/shipped_database.h"
#include "autotune/cli/standard_streams.h"
#include "autotune/cli/static_tuning.h"
#include "autotune/search/resolver.h"
#include "autotune/search/seeds.h"
#include "autotune/search/tuner.h"
#include "schedules/target.h"

namespace normforge {

namespace {

struct TuneOptions {
    explicit TuneOptions(CLI::App &command)
        : problems(command, ProblemOptions::Count::several), rows(command, "Numbers of rows to tune for"),
          target(command), statics(command), launched(command), db(command) {
        add_value(command, "--effort", "EFFORT", effort, "How many schedules to try: " + names_of(kEfforts));
        add_value(command, "--seed", "NUMBER", seed, "Decides which schedules are tried, and in which order");
        add_flag(command, "--if-missing", if_missing,
                 "Skip problems that the database has a valid result for, whatever its numbers of rows");
        add_flag(command, "--json", json, kJsonHelp);
        add_flag(command, "--quiet", quiet, "Show no progress and do not name skipped problems");
    }

    ProblemOptions problems;
    RowsOption rows;
    TargetOption target;
    StaticTuning statics;
    LaunchedTuning launched;
    DatabaseOption db;
    std::string effort = "quick";
    std::string seed = "1";
    bool if_missing = false;
    bool json = false;
    bool quiet = false;
};

// The database stores it as a signed number.
uint64_t parse_seed(const std::string &text) {
    constexpr auto kLargest = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    uint64_t seed = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
    if (error != std::errc() || stop != text.data() + text.size() || seed > kLargest) {
        throw UsageError(
            fmt::format("--seed: seed is '{}'; allowed: a whole number from 0 to {}", text, kLargest));
    }
    return seed;
}

std::string count_text(const std::map<TrialStatus, int> &trials) {
    std::string text;
    for (const auto &[status, count] : trials) {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name_of(kTrialStatuses, status));
    }
    return text;
}

void print_text(const NormProblem &problem, const TuneReport &report) {
    print("{}\n", to_text(problem));
    for (const Choice &choice : report.selection.choices) {
        print("  rows={:<6} {:>10.4g} us, heuristic {:>10.4g} us, {:.2f}x  {}\n", choice.rows,
              choice.nanoseconds / 1e3, choice.reference_nanoseconds / 1e3, 1 / choice.ratio, choice.knobs);
    }
    print("  noise {:.1f} %, trials: {}, {:.1f} s\n", report.selection.noise * 100, count_text(report.trials),
          report.seconds);
    flush_output();  // the next problem takes a while
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
                                       const std::string &path, bool quiet) {
    if (!std::filesystem::exists(path)) {
        return problems;
    }
    const Database database = Database::open_read_only(path);
    std::vector<NormProblem> missing;
    for (const ResolvedKernel &kernel : resolve(problems, {target}, {.own = &database})) {
        if (kernel.step != LadderStep::tuned || !kernel.is_measured) {
            missing.push_back(kernel.problem);
        } else if (!quiet) {
            note(fmt::format("skipped {}: already {}", to_text(kernel.problem), kernel.source));
        }
    }
    return missing;
}

Json tune_each(const std::vector<NormProblem> &problems, TuneRequest request, const TuneOptions &options) {
    Json results = Json::array();
    Database database = Database::open(options.db.path());
    for (size_t index = 0; index < problems.size(); index++) {
        request.problem = problems[index];
        request.rows = options.rows.rows(request.problem);
        request.known =
            tuning_seeds({.own = &database, .shipped = &shipped_database()}, request.problem, request.target);
        if (!options.quiet) {
            note(fmt::format("tuning {} ({} of {})", to_text(request.problem), index + 1, problems.size()));
        }
        TuneReport report;
        {
            Progress progress(options.quiet ? Progress::Mode::silent : Progress::Mode::automatic);
            report = tune(request, database, progress);
        }
        results.push_back(report_json(request, report));
        if (!options.json) {
            print_text(request.problem, report);
        }
    }
    return results;
}

void tune_problems(const TuneOptions &options) {
    std::vector<NormProblem> problems = options.problems.problems();
    const Effort effort = parse_option("--effort", [&] { return value_named(kEfforts, options.effort); });
    if (options.launched.is_asked_for()) {
        return options.launched.run({problems, options.rows, options.target.target(), options.db.path(), effort,
                                     parse_seed(options.seed), options.json, options.quiet});
    }
    if (options.statics.is_asked_for()) {
        return options.statics.run({problems, options.rows, options.target, options.db.path(), effort,
                                    parse_seed(options.seed), options.json, options.quiet});
    }
    const TuneRequest request{{}, options.target.target(), {}, effort, parse_seed(options.seed)};
    for (const NormProblem &problem : problems) {
        options.rows.rows(problem);  // says what is wrong with it before anything else
    }
    require_runnable(request.target);  // before a database is made
    if (options.if_missing) {
        problems = without_known(problems, request.target, options.db.path(), options.quiet);
    }
    // A database that may only be read will do where nothing is left to write.
    const Json results = problems.empty() ? Json::array() : tune_each(problems, request, options);
    if (options.json) {
        print_json(results);
    }
}

}  // namespace

void add_tune_command(CLI::App &program, Run &run) {
    CLI::App &command = *program.add_subcommand(
        "tune", "Measure schedules on this machine and keep every trial in the tuning database");
    command.footer("Examples:\n"
                   "  normforge tune --op rms_norm --hidden 4096\n"
                   "  normforge tune --op layer_norm,rms_norm --hidden 384,576 --rows 1,64 \\\n"
                   "      --effort normal --db tuning.db\n"
                   "  normforge tune --static --cpu neoverse-v2 --op rms_norm --hidden 4096\n"
                   "  normforge tune --target arm-64-linux-neon --op rms_norm --hidden 4096 \\\n"
                   "      --launcher 'scp -q {exe} board:nf && ssh board ./nf {args}'");
    auto options = std::make_shared<TuneOptions>(command);
    command.callback([options, &run] { run = [options] { tune_problems(*options); }; });
}

}  // namespace normforge
