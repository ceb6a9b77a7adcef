#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "autotune/base/units.h"
#include "autotune/cli/db_commands.h"
#include "autotune/cli/json_forms.h"
#include "autotune/cli/options.h"
#include "autotune/cli/standard_streams.h"
#include "autotune/library/pending_file.h"
#include "autotune/search/decision.h"
#include "autotune/search/pruning.h"

namespace normforge {

namespace {

struct MergeOptions {
    std::string out;
    std::vector<std::string> files;
    bool json = false;
    bool quiet = false;
};

bool is_among(const std::string &path, const std::vector<std::string> &files) {
    return std::ranges::any_of(files, [&](const std::string &file) {
        std::error_code error;
        return std::filesystem::equivalent(path, file, error);
    });
}

Json decisions_json(const std::vector<Decision> &decisions) {
    Json all = Json::array();
    for (const auto &[session, trials, selection] : decisions) {
        Json json = json_of(session.problem);
        json.update({{"hardware", session.hardware_signature}, {"target", session.target}});
        json.update(json_of(selection));
        all.push_back(json);
    }
    return all;
}

void merge(const MergeOptions &options) {
    if (options.out.empty()) {
        throw UsageError("OUT: it is empty; allowed: the name of a file");
    }
    if (std::filesystem::exists(options.out) && !is_among(options.out, options.files)) {
        throw UserError(fmt::format("{} exists already; name it among the files to be merged too, to keep what it "
                                    "holds, or give a new name",
                                    options.out));
    }
    Evidence evidence;
    for (const std::string &file : options.files) {
        evidence = join(std::move(evidence), Database::open_read_only(file).evidence());
    }
    PendingFile out(options.out);
    std::vector<Decision> decisions;
    {
        Database merged = Database::open(out.temporary_path());
        merged.add(evidence);
        decisions = best_decisions(merged);
    }
    out.commit();
    if (options.json) {
        return print_json(decisions_json(decisions));
    }
    if (options.quiet) {
        return;
    }
    for (const auto &[session, trials, selection] : decisions) {
        print("{}\n  {}, {}\n", to_text(session.problem), session.hardware_signature, session.target);
        for (const Choice &choice : selection.choices) {
            print("    rows={:<6} {}  {:.2f}x the heuristic\n", choice.rows, choice.knobs, 1 / choice.ratio);
        }
    }
    print("wrote {}: {} of {}\n", options.out, counted(std::ssize(evidence), "session"),
          counted(std::ssize(options.files), "file"));
}

struct PruneOptions {
    explicit PruneOptions(CLI::App &command) : file(command) {
        add_flag(command, "--dry-run", dry_run, "Only print what would be removed");
        add_flag(command, "--json", json, kJsonHelp);
        add_quiet(command, quiet);
    }

    DatabaseFileOption file;
    bool dry_run = false;
    bool json = false;
    bool quiet = false;
};

void prune(const PruneOptions &options) {
    const std::string path = options.file.path();
    std::optional<Database> database;
    if (options.dry_run || !std::filesystem::exists(path)) {
        database.emplace(Database::open_read_only(path));
    } else {
        database.emplace(Database::open(path));
    }
    std::vector<int64_t> ids;
    Json all = Json::array();
    for (const auto &[session, reason] : prunable_sessions(*database)) {
        ids.push_back(session.id);
        if (options.json) {
            all.push_back(json_of(session.problem));
            all.back().update({{"uuid", session.uuid}, {"started", session.started}, {"reason", reason}});
        } else if (!options.quiet) {
            print("{} of {}: {}\n", to_text(session.problem), session.started, reason);
        }
    }
    if (!options.dry_run && !ids.empty()) {
        database->remove(ids);
    }
    if (options.json) {
        print_json(all);
    } else if (!options.quiet) {
        print("{} {}\n", options.dry_run ? "would remove" : "removed", counted(std::ssize(ids), "session"));
    }
}

}  // namespace

void add_db_merge_command(CLI::App &db, Run &run) {
    CLI::App &command = *db.add_subcommand(
        "merge", "Write a database with all that others hold, and print the schedules that are best by all of it");
    auto options = std::make_shared<MergeOptions>();
    add_value(
        command, "OUT", "OUT", options->out,
        "The database to write; appears when it is whole. It may be one of the files, which it then replaces")
        ->required();
    command.add_option("FILE", options->files, "The databases to read")->type_name("FILE...")->required();
    add_flag(command, "--json", options->json, kJsonHelp);
    add_quiet(command, options->quiet);
    command.footer("The order of the files does not matter, nor whether a session is in several.\n\n"
                   "Example:\n  normforge db merge all.db node1.db node2.db");
    command.callback([options, &run] { run = [options] { merge(*options); }; });
}

void add_db_prune_command(CLI::App &db, Run &run) {
    CLI::App &command = *db.add_subcommand(
        "prune", "Remove sessions that are of no use: aborted ones, and those of an older compiler or generator "
                 "for which there is a newer one. What decides which schedules are best stays");
    auto options = std::make_shared<PruneOptions>(command);
    command.footer("Example:\n  normforge db prune tuning.db --dry-run");
    command.callback([options, &run] { run = [options] { prune(*options); }; });
}

}  // namespace normforge
