#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <limits>
#include <memory>
#include <new>

#include "autotune/base/enum_text.h"
#include "autotune/base/interruption.h"
#include "autotune/cli/commands.h"
#include "autotune/cli/json_forms.h"
#include "autotune/cli/launched_tuning.h"
#include "autotune/cli/options.h"
#include "autotune/cli/problem_options.h"
#include "autotune/cli/shipped_database.h"
#include "autotune/cli/standard_streams.h"
#include "autotune/cli/static_tuning.h"
#include "autotune/cli/time_budget.h"
#include "autotune/cli/tune_results.h"
#include "autotune/manifest/shard.h"
#include "autotune/search/detect_gpu.h"
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
        add_value(command, "--shard", "I/N", shard,
                  "The I-th of N parts of the problems, for N machines; which part a problem is in depends on the "
                  "problems alone, not on their order");
        add_value(command, "--budget", "TIME", budget,
                  "How long all of it may take, such as 90s, 5m or 2h; what is measured by then decides");
        add_flag(command, "--resume", resume,
                 "Go on where this command was interrupted or killed before: skip problems that it has done, keep "
                 "trials "
                 "of those that it had begun. One that its budget cut is tuned anew");
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
    std::string shard = "1/1";
    std::string budget;
    bool resume = false;
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

std::vector<ProblemRows> without_known(const std::vector<ProblemRows> &problems, const Halide::Target &target,
                                       const std::string &path, bool quiet) {
    if (!std::filesystem::exists(path)) {
        return problems;
    }
    const Database database = Database::open_read_only(path);
    std::vector<NormProblem> all;
    std::ranges::transform(problems, std::back_inserter(all), &ProblemRows::problem);
    const std::vector<ResolvedKernel> kernels = resolve(all, {target}, {.own = &database}, Steps::up_to_the_taken,
                                                        is_cuda(target) ? this_machine() : Machine());
    std::vector<ProblemRows> missing;
    for (size_t index = 0; index < problems.size(); index++) {
        if (kernels[index].step != LadderStep::tuned || !kernels[index].is_measured) {
            missing.push_back(problems[index]);
        } else if (!quiet) {
            note(fmt::format("skipped {}: already {}", to_text(all[index]), kernels[index].source));
        }
    }
    return missing;
}

std::string reason_of(const std::exception &error) {
    return dynamic_cast<const std::bad_alloc *>(&error) != nullptr ? "not enough memory" : error.what();
}

TuneReport tune_or_say_how_to_resume(const TuneRequest &request, Database &database, Progress &progress) {
    try {
        return tune(request, database, progress);
    } catch (const Interrupted &) {
        progress.say("normforge: interrupted; the same command with --resume goes on from here");
        throw;
    }
}

// One that fails does not keep the others from being tuned.
void tune_each(const std::vector<ProblemRows> &problems, TuneRequest request, const TimeBudget &budget,
               const TuneOptions &options, TuneResults &results) {
    const InterruptionRequests interruptions;
    Database database = Database::open(options.db.path());
    for (size_t index = 0; index < problems.size(); index++) {
        request.problem = problems[index].problem;
        request.rows = problems[index].rows;
        request.deadline = budget.deadline(problems.size() - index);
        if (budget.is_used_up() || (options.resume && is_done(request, database))) {
            if (!options.quiet || budget.is_used_up()) {
                note(fmt::format("skipped {}: {}", to_text(request.problem),
                                 budget.is_used_up() ? "the budget is used up" : "done already"));
            }
            continue;
        }
        if (!options.quiet) {
            note(fmt::format("tuning {} ({} of {})", to_text(request.problem), index + 1, problems.size()));
        }
        TuneReport report;
        try {
            request.known =
                tuning_seeds({.own = &database, .shipped = &shipped_database()}, request.problem, request.target);
            Progress progress(progress_mode(options.quiet));
            report = tune_or_say_how_to_resume(request, database, progress);
        } catch (const std::exception &error) {
            if (problems.size() > 1) {
                note(fmt::format("{}: {}", to_text(request.problem), reason_of(error)));
            }
            results.add_failure(request.problem, reason_of(error));
            continue;
        }
        results.add(request, report);
    }
}

// What schedules are chosen for. Of a machine behind a launcher nothing is known before it is measured.
Hardware chosen_hardware(const TuneOptions &options) {
    if (options.launched.is_asked_for()) {
        return {};
    }
    if (options.statics.is_asked_for()) {
        return options.statics.hardware();
    }
    const Halide::Target target = options.target.target();
    return is_cuda(target) ? this_machine().of(target) : detect_hardware();
}

void tune_problems(const TuneOptions &options) {
    std::vector<ProblemRows> problems =
        options.problems.problems_with_rows(options.rows, chosen_hardware(options));
    const Effort effort = parse_option("--effort", [&] { return value_named(kEfforts, options.effort); });
    const Shard shard = parse_option("--shard", [&] { return parse_shard(options.shard); });
    problems = problems_in(shard, problems);
    const std::string path = options.db.path();
    const TuneCommand command{problems,     options.target, path, effort, parse_seed(options.seed),
                              options.json, options.quiet};
    if (options.launched.is_asked_for()) {
        return options.launched.run(command);
    }
    if (options.statics.is_asked_for()) {
        return options.statics.run(command);
    }
    TuneRequest request{{}, options.target.target(), {}, effort, command.seed};
    request.resume = options.resume;
    const TimeBudget budget = parse_option("--budget", [&] { return TimeBudget(options.budget); });
    require_runnable(request.target);  // before a database is made
    if (options.if_missing) {
        problems = without_known(problems, request.target, options.db.path(), options.quiet);
    }
    TuneResults results(options.json);
    if (!problems.empty()) {  // a database that may only be read will do where nothing is left to write
        try {
            tune_each(problems, request, budget, options, results);
        } catch (const Interrupted &) {
            results.print();  // of those that were tuned; the signal decides the exit status
            throw;
        }
    }
    results.finish();
}

}  // namespace

void add_tune_command(CLI::App &program, Run &run) {
    CLI::App &command = *program.add_subcommand(
        "tune", "Measure schedules on this machine and keep every trial in the tuning database");
    command.footer("Examples:\n"
                   "  normforge tune --op rms_norm --hidden 4096\n"
                   "  normforge tune --op layer_norm,rms_norm --hidden 384,576 --rows 1,64 \\\n"
                   "      --effort normal --db tuning.db\n"
                   "  normforge tune --manifest norms.json --shard 2/8 --db part2.db\n"
                   "  normforge tune --static --cpu neoverse-v2 --op rms_norm --hidden 4096\n"
                   "  normforge tune --target arm-64-linux-neon --op rms_norm --hidden 4096 \\\n"
                   "      --launcher 'scp -q {exe} board:nf && ssh board ./nf {args}'");
    auto options = std::make_shared<TuneOptions>(command);
    command.callback([options, &run] { run = [options] { tune_problems(*options); }; });
}

}  // namespace normforge
