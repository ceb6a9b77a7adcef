#include <fmt/format.h>

#include <memory>

#include "autotune/base/enum_text.h"
#include "autotune/cli/commands.h"
#include "autotune/cli/db_commands.h"
#include "autotune/cli/json_forms.h"
#include "autotune/cli/options.h"
#include "autotune/cli/standard_streams.h"
#include "autotune/search/decision.h"

namespace normforge {

namespace {

struct DbOptions {
    std::string file;
    bool json = false;
};

Json session_json(const StoredSession &session) {
    Json json = json_of(session.problem);
    json["hardware"] = session.hardware_signature;
    json["model_name"] = session.hardware.model_name;
    json["target"] = session.target;
    json["halide"] = session.toolchain.halide;
    json["llvm"] = session.toolchain.llvm;
    json["normforge"] = session.toolchain.normforge;
    json["effort"] = session.effort;
    json["seed"] = session.seed;
    json["state"] = name_of(kSessionStates, session.state);
    json["started"] = session.started;
    json["ended"] = session.ended;
    return json;
}

void print_heading(const StoredSession &session) {
    print("{}\n  {} ({}), {}\n", to_text(session.problem), session.hardware.model_name, session.hardware_signature,
          session.target);
}

std::string period(const StoredSession &session) {
    const std::string state = name_of(kSessionStates, session.state);
    return session.ended.empty() ? fmt::format("{} since {}", state, session.started)
                                 : fmt::format("{}, {} to {}", state, session.started, session.ended);
}

std::string trial_line(const Trial &trial) {
    if (trial.samples.empty()) {
        return fmt::format("rows={:<6} {:<13}  {}  {}", trial.rows, name_of(kTrialStatuses, trial.status),
                           trial.knobs, trial.message);
    }
    return fmt::format("rows={:<6} {:<13}  {}  {:.3f} of the heuristic's time, {} samples", trial.rows,
                       name_of(kTrialStatuses, trial.status), trial.knobs, median_ratio(trial),
                       trial.samples.size());
}

Json trial_json(const Trial &trial) {
    Json json = {{"rows", trial.rows},
                 {"knobs", trial.knobs},
                 {"status", name_of(kTrialStatuses, trial.status)},
                 {"message", trial.message},
                 {"error_ratio", trial.error_ratio},
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

void show(const DbOptions &options) {
    const Database database = Database::open_read_only(options.file);
    Json all = Json::array();
    for (const StoredSession &session : database.sessions()) {
        const std::vector<Trial> trials = database.trials(session.id);
        if (options.json) {
            all.push_back(session_json(session));
            all.back()["trials"] = Json::array();
            for (const Trial &trial : trials) {
                all.back()["trials"].push_back(trial_json(trial));
            }
            continue;
        }
        print_heading(session);
        print("  {}, effort {}, seed {}, Halide {}, LLVM {}, normforge {}\n", period(session), session.effort,
              session.seed, session.toolchain.halide, session.toolchain.llvm, session.toolchain.normforge);
        for (const Trial &trial : trials) {
            print("    {}\n", trial_line(trial));
        }
    }
    if (options.json) {
        print_json(all);
    }
}

void best(const DbOptions &options) {
    const Database database = Database::open_read_only(options.file);
    Json all = Json::array();
    for (const auto &[session, trials, selection] : best_decisions(database)) {
        if (options.json) {
            all.push_back(session_json(session));
            all.back().update(json_of(selection));
            continue;
        }
        print_heading(session);
        for (const Choice &choice : selection.choices) {
            print("    rows={:<6} {}  {:.4g} us, {:.2f}x the heuristic\n", choice.rows, choice.knobs,
                  choice.nanoseconds / 1e3, 1 / choice.ratio);
        }
    }
    if (options.json) {
        print_json(all);
    }
}

CLI::App &add(CLI::App &db, const std::string &name, const std::string &help, void (*action)(const DbOptions &),
              Run &run) {
    CLI::App &command = *db.add_subcommand(name, help);
    auto options = std::make_shared<DbOptions>();
    add_value(command, "FILE", "FILE", options->file, "The database")->required();
    add_flag(command, "--json", options->json, kJsonHelp);
    command.callback([options, action, &run] { run = [options, action] { action(*options); }; });
    return command;
}

}  // namespace

void add_db_command(CLI::App &program, Run &run) {
    CLI::App &db = *program.add_subcommand("db", "Look into tuning databases, move, merge and prune them");
    add(db, "show", "Print every tuning session, oldest first, with its trials; as JSON, with their samples", show,
        run)
        .footer("Example:\n  normforge db show tuning.db");
    add(db, "best",
        "Print the schedules that build uses: for each problem, hardware and target those of the last tuning "
        "session that was done",
        best, run)
        .footer("Example:\n  normforge db best tuning.db --json");
    add_db_explain_command(db, run);
    add_db_transfer_commands(db, run);
    add_db_merge_command(db, run);
    add_db_prune_command(db, run);
}

}  // namespace normforge
