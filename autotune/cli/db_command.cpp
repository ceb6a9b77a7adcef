#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "autotune/base/enum_text.h"
#include "autotune/base/units.h"
#include "autotune/cli/commands.h"
#include "autotune/cli/db_commands.h"
#include "autotune/cli/json_forms.h"
#include "autotune/cli/options.h"
#include "autotune/cli/standard_streams.h"
#include "autotune/cli/text_table.h"
#include "autotune/search/decision.h"

namespace normforge {

namespace {

struct DbOptions {
    explicit DbOptions(CLI::App &command) : file(command) { add_flag(command, "--json", json, kJsonHelp); }

    DatabaseFileOption file;
    bool json = false;
    bool trials = false;
};

Json session_json(const StoredSession &session) {
    Json json = json_of(session.problem);
    json["uuid"] = session.uuid;
    json["hardware"] = session.hardware_signature;
    json["model_name"] = session.hardware.model_name;
    json["target"] = session.target;
    json["halide"] = session.toolchain.halide;
    json["llvm"] = session.toolchain.llvm;
    json["normforge"] = session.toolchain.normforge;
    json["algorithm"] = session.generator.algorithm;
    json["space"] = session.generator.space;
    json["reference"] = session.reference;
    json["effort"] = session.effort;
    json["seed"] = session.seed;
    json["state"] = name_of(kSessionStates, session.state);
    json["source"] = name_of(kTimeSources, session.source);
    json["started"] = session.started;
    json["ended"] = session.ended;
    return json;
}

Json trial_json(const Trial &trial) {
    Json json = {{"rows", trial.rows},
                 {"knobs", trial.knobs},
                 {"status", name_of(kTrialStatuses, trial.status)},
                 {"message", trial.message},
                 {"error_ratio", trial.error_ratio},
                 {"object_hash", trial.object_hash},
                 {"code_hash", trial.code_hash},
                 {"code_bytes", trial.code_bytes},
                 {"compile_ms", trial.compile_ms}};
    json["samples"] = Json::array();
    for (const Sample &sample : trial.samples) {
        json["samples"].push_back({{"block", sample.block},
                                   {"position", sample.position},
                                   {"calls", sample.calls},
                                   {"ns", sample.ns},
                                   {"heuristic_ns", sample.reference_ns}});
    }
    return json;
}

using Table = std::vector<std::vector<std::string>>;

std::vector<std::string> session_row(const StoredSession &session, const std::vector<Trial> &trials) {
    const auto failed =
        std::ranges::count_if(trials, [](const Trial &trial) { return trial.status != TrialStatus::ok; });
    const Selection selection = select_best(trials, session.reference);
    const auto best = std::ranges::min_element(selection.choices, {}, &Choice::ratio);
    return {session.started,
            name_of(kSessionStates, session.state),
            session.effort,
            name_of(kTimeSources, session.source),
            fmt::format("{}", trials.size()),
            fmt::format("{}", failed),
            best == selection.choices.end() ? "-" : fmt::format("{:.2f}x", 1 / best->ratio),
            to_text(session.problem),
            session.hardware_signature,
            session.toolchain.llvm,
            session.toolchain.normforge};
}

Table trial_table(const std::vector<Trial> &trials) {
    Table table = {{"rows", "status", "samples", "ratio", "knobs", "message"}};
    for (const Trial &trial : trials) {
        table.push_back({fmt::format("{}", trial.rows), name_of(kTrialStatuses, trial.status),
                         fmt::format("{}", trial.samples.size()),
                         trial.samples.empty() ? "-" : fmt::format("{:.3f}", median_ratio(trial)), trial.knobs,
                         trial.message});
    }
    return table;
}

void show(const DbOptions &options) {
    const Database database = Database::open_read_only(options.file.path());
    const std::vector<std::string> heading = {"started", "state",   "effort",   "source", "trials",   "failed",
                                              "best",    "problem", "hardware", "LLVM",   "normforge"};
    Json all = Json::array();
    Table table = {heading};
    for (const StoredSession &session : database.sessions()) {
        const std::vector<Trial> trials = database.trials(session.id);
        if (options.json) {
            all.push_back(session_json(session));
            all.back()["trials"] = Json::array();
            for (const Trial &trial : trials) {
                all.back()["trials"].push_back(trial_json(trial));
            }
        } else if (options.trials) {
            write_output(text_table({heading, session_row(session, trials)}));
            write_output(text_table(trial_table(trials), "  "));
        } else {
            table.push_back(session_row(session, trials));
        }
    }
    if (options.json) {
        print_json(all);
    } else if (!options.trials) {
        write_output(text_table(table));
    }
}

void best(const DbOptions &options) {
    const Database database = Database::open_read_only(options.file.path());
    Json all = Json::array();
    for (const auto &[session, trials, selection] : best_decisions(database)) {
        if (options.json) {
            all.push_back(session_json(session));
            all.back().update(json_of(selection));
            continue;
        }
        const bool is_measured = session.source == TimeSource::measured;
        print("{}\n  {} ({}), {}\n  {} {}{}\n", to_text(session.problem), session.hardware.model_name,
              session.hardware_signature, session.target, is_measured ? "tuned" : "simulated", session.started,
              is_measured ? fmt::format(", noise {:.1f} %", selection.noise * 100) : ", not measured");
        const bool has_cycles = !is_measured && session.hardware.arch != kGpuArch;
        const auto amount = [&](double samples) {
            return has_cycles ? fmt::format("{:.0f} cycles", samples) : time_text(samples);
        };
        Table table = {{"rows", "best", "heuristic", "gain", "knobs"}};
        for (const Choice &choice : selection.choices) {
            table.push_back({fmt::format("{}", choice.rows), amount(choice.nanoseconds),
                             amount(choice.reference_nanoseconds), fmt::format("{:.2f}x", 1 / choice.ratio),
                             choice.knobs});
        }
        write_output(text_table(table, "  "));
    }
    if (options.json) {
        print_json(all);
    }
}

std::shared_ptr<DbOptions> add(CLI::App &command, void (*action)(const DbOptions &), Run &run) {
    auto options = std::make_shared<DbOptions>(command);
    command.callback([options, action, &run] { run = [options, action] { action(*options); }; });
    return options;
}

}  // namespace

void add_db_command(CLI::App &program, Run &run) {
    CLI::App &db = *program.add_subcommand("db", "Look into tuning databases, move, merge and prune them");
    CLI::App &show_command = *db.add_subcommand(
        "show", "Print every tuning session, oldest first; as JSON, with its trials and their samples");
    add_flag(show_command, "--trials", add(show_command, show, run)->trials,
             "Print each session's trials too, with their medians of the time over the heuristic's");
    show_command.footer("Example:\n  normforge db show tuning.db");
    CLI::App &best_command = *db.add_subcommand(
        "best",
        "Print the schedules that are best by what was measured, or else simulated: for each problem, hardware "
        "and target");
    add(best_command, best, run);
    best_command.footer("Examples:\n  normforge db best\n  normforge db best tuning.db --json");
    add_db_verify_command(db, run);
    add_db_explain_command(db, run);
    add_db_transfer_commands(db, run);
    add_db_merge_command(db, run);
    add_db_prune_command(db, run);
}

}  // namespace normforge
