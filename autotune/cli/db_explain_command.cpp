#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "autotune/cli/db_commands.h"
#include "autotune/cli/json_forms.h"
#include "autotune/cli/options.h"
#include "autotune/cli/problem_options.h"
#include "autotune/cli/standard_streams.h"
#include "autotune/search/resolver.h"
#include "schedules/target.h"

namespace normforge {

namespace {

struct ExplainOptions {
    explicit ExplainOptions(CLI::App &command)
        : problems(command, ProblemOptions::Count::several), targets(command), device(command, kDeviceHelp),
          db(command) {
        add_value(command, "FILE", "FILE", file, "The database; by default that of --db")
            ->excludes(command.get_option("--db"));
        add_flag(command, "--json", json, kJsonHelp);
        add_flag(command, "--quiet", quiet, kQuietNoteHelp);
    }

    ProblemOptions problems;
    TargetsOption targets;
    DeviceOption device;
    DatabaseOption db;
    std::string file;
    bool json = false;
    bool quiet = false;
};

// The first that can serve.
bool is_taken(const ResolvedKernel &kernel, const StepOutcome &outcome) {
    return &*std::ranges::find(kernel.outcomes, true, &StepOutcome::can_serve) == &outcome;
}

Json kernel_json(const ResolvedKernel &kernel) {
    Json json = json_of(kernel.problem);
    json["target"] = target_name(kernel.target);
    json["step"] = name_of(kLadderSteps, kernel.step);
    json["source"] = kernel.source;
    for (const ResolvedVariant &variant : kernel.variants) {
        json["variants"].push_back({{"min_rows", variant.min_rows}, {"knobs", knobs_text(variant.spec)}});
    }
    for (const StepOutcome &outcome : kernel.outcomes) {
        json["steps"].push_back({{"step", name_of(kLadderSteps, outcome.step)},
                                 {"shipped", outcome.is_shipped},
                                 {"can_serve", outcome.can_serve},
                                 {"taken", is_taken(kernel, outcome)},
                                 {"outcome", outcome.outcome}});
    }
    return json;
}

void print_kernel(const ResolvedKernel &kernel) {
    print("{} on {}\n", to_text(kernel.problem), target_name(kernel.target));
    for (const StepOutcome &outcome : kernel.outcomes) {
        print("  {:<8} {:<28} {}\n",
              is_taken(kernel, outcome) ? "taken"
              : outcome.can_serve       ? "serves"
                                        : "-",
              step_text(outcome.step, outcome.is_shipped), outcome.outcome);
    }
    for (const ResolvedVariant &variant : kernel.variants) {
        print("  from {} rows: {}\n", variant.min_rows, knobs_text(variant.spec));
    }
}

void explain(const ExplainOptions &options) {
    const std::vector<NormProblem> problems = options.problems.problems();
    const std::vector<Halide::Target> targets = options.targets.targets();
    const std::optional<Database> database = options.file.empty()
                                                 ? options.db.open_read_only(options.quiet)
                                                 : std::optional(Database::open_read_only(options.file));
    Json all = Json::array();
    for (const ResolvedKernel &kernel :
         resolve(problems, targets, known_databases(database), Steps::all, options.device.machine(targets))) {
        if (options.json) {
            all.push_back(kernel_json(kernel));
        } else {
            print_kernel(kernel);
        }
    }
    if (options.json) {
        print_json(all);
    }
}

}  // namespace

void add_db_explain_command(CLI::App &db, Run &run) {
    CLI::App &command = *db.add_subcommand(
        "explain",
        "Tell from where build takes a problem's schedules, and what every other step of the ladder has");
    command.footer("The gain of an entry is what was measured where it was tuned. Where that is not\n"
                   "this problem, hardware and target, it is the best guess of the gain here.\n\n"
                   "Example:\n  normforge db explain tuning.db --op rms_norm --hidden 3072");
    auto options = std::make_shared<ExplainOptions>(command);
    command.callback([options, &run] { run = [options] { explain(*options); }; });
}

}  // namespace normforge
