#include <fmt/format.h>

#include <map>
#include <memory>

#include "autotune/cli/db_commands.h"
#include "autotune/cli/json_forms.h"
#include "autotune/cli/options.h"
#include "autotune/cli/standard_streams.h"
#include "autotune/search/verification.h"

namespace normforge {

namespace {

struct VerifyOptions {
    explicit VerifyOptions(CLI::App &command) : file(command) { add_flag(command, "--json", json, kJsonHelp); }

    DatabaseFileOption file;
    bool json = false;
};

Json entry_json(const VerifiedEntry &entry) {
    Json json = json_of(entry.session.problem);
    json["hardware"] = entry.session.hardware_signature;
    json["target"] = entry.session.target;
    json["started"] = entry.session.started;
    json["state"] = name_of(kEntryStates, entry.state);
    json["reason"] = entry.reason;
    return json;
}

void verify(const VerifyOptions &options) {
    const Database database = Database::open_read_only(options.file.path());
    Json all = Json::array();
    std::map<EntryState, int> counts;
    for (const VerifiedEntry &entry : verify_entries(database)) {
        counts[entry.state]++;
        if (options.json) {
            all.push_back(entry_json(entry));
            continue;
        }
        print("{:<6} {}\n       {}, {}\n", name_of(kEntryStates, entry.state), to_text(entry.session.problem),
              entry.session.hardware_signature, entry.session.target);
        if (!entry.reason.empty()) {
            print("       {}\n", entry.reason);
        }
    }
    if (options.json) {
        print_json(all);
    }
    if (const int lost = counts[EntryState::stale] + counts[EntryState::dead]; lost > 0) {
        throw UserError(fmt::format("{}: {} stale and {} dead; tune their problems again, on their hardware",
                                    options.file.path(), counts[EntryState::stale], counts[EntryState::dead]));
    }
}

}  // namespace

void add_db_verify_command(CLI::App &db, Run &run) {
    CLI::App &command = *db.add_subcommand(
        "verify", "Compile the schedules that are best in a database anew, on all cores, and tell which are still "
                  "the code that was measured");
    auto options = std::make_shared<VerifyOptions>(command);
    command.footer("fresh: the same objects, or their machine code under other names. stale: other\n"
                   "code, good for tuning to begin with. dead: schedules that are none any more.\n"
                   "Exit status 1 where an entry is stale or dead.\n\n"
                   "Example:\n  normforge db verify tuning.db");
    command.callback([options, &run] { run = [options] { verify(*options); }; });
}

}  // namespace normforge
