#include <fmt/format.h>

#include <memory>

#include "autotune/base/text_file.h"
#include "autotune/base/units.h"
#include "autotune/cli/db_commands.h"
#include "autotune/cli/json_forms.h"
#include "autotune/cli/options.h"
#include "autotune/cli/standard_streams.h"
#include "autotune/cli/trial_csv.h"
#include "autotune/database/evidence_json.h"
#include "autotune/library/pending_file.h"
#include "autotune/search/pruning.h"

namespace normforge {

namespace {

enum class ExportForm { json, csv };

constexpr NamedValue<ExportForm> kExportForms[] = {{"json", ExportForm::json}, {"csv", ExportForm::csv}};

struct ExportOptions {
    explicit ExportOptions(CLI::App &command) : file(command) {
        add_value(command, "--out", "FILE", out, "Where to; by default standard output");
        add_value(
            command, "--format", "FORM", form,
            "In which form: json, csv; db import reads json, and csv has a line for each trial with its medians");
        add_flag(command, "--best", best,
                 "Only what decides which schedules are best: few trials of few sessions");
    }

    DatabaseFileOption file;
    std::string out;
    std::string form = "json";
    bool best = false;
};

void export_database(const ExportOptions &options) {
    const ExportForm form = parse_option("--format", [&] { return value_named(kExportForms, options.form); });
    if (form == ExportForm::csv && options.best) {
        throw UsageError("--best: it is for --format json");
    }
    Database database = Database::open_read_only(options.file.path());
    const std::string text = form == ExportForm::csv
                                 ? trial_csv(database)
                                 : to_json(options.best ? deciding_evidence(database) : database.evidence());
    if (options.out.empty()) {
        return write_output(text);
    }
    PendingFile out(options.out);
    out.write(text);
    out.commit();
}

struct ImportOptions {
    explicit ImportOptions(CLI::App &command) {
        add_value(command, "JSON", "JSON", json, "What db export wrote")->required();
        db.emplace(command);
        add_flag(command, "--json", as_json, kJsonHelp);
        add_quiet(command, quiet);
    }

    std::string json;
    std::optional<DatabaseOption> db;
    bool as_json = false;
    bool quiet = false;
};

void import_database(const ImportOptions &options) {
    const Evidence evidence =
        from_json(read_text_file(options.json), fmt::format("tuning export '{}'", options.json));
    Database database = Database::open(options.db->path());
    const int64_t changed = database.add(evidence);
    if (options.as_json) {
        const Json counts = {{"sessions", evidence.size()}, {"changed", changed}};
        print_json(Json::array({counts}));
    } else if (!options.quiet) {
        print("{}, {} of them new or more complete\n", counted(std::ssize(evidence), "session"), changed);
    }
}

}  // namespace

void add_db_transfer_commands(CLI::App &db, Run &run) {
    CLI::App &export_command =
        *db.add_subcommand("export", "Write all that a database holds as JSON, or its trials as CSV");
    auto export_options = std::make_shared<ExportOptions>(export_command);
    export_command.footer("Examples:\n  normforge db export tuning.db --out tuning.json\n"
                          "  normforge db export tuning.db --format csv --out trials.csv");
    export_command.callback(
        [export_options, &run] { run = [export_options] { export_database(*export_options); }; });

    CLI::App &import_command = *db.add_subcommand(
        "import", "Add what db export wrote to a database: all of it, or nothing where something is wrong");
    auto import_options = std::make_shared<ImportOptions>(import_command);
    import_command.footer("Example:\n  normforge db import tuning.json --db tuning.db");
    import_command.callback(
        [import_options, &run] { run = [import_options] { import_database(*import_options); }; });
}

}  // namespace normforge
