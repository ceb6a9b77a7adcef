#include <fmt/format.h>

#include <map>
#include <memory>
#include <string>

#include "autotune/base/hardware.h"
#include "autotune/base/units.h"
#include "autotune/cli/commands.h"
#include "autotune/cli/copy_kernel.h"
#include "autotune/cli/options.h"
#include "autotune/cli/standard_streams.h"
#include "autotune/library/embedded_files.h"
#include "autotune/library/pending_file.h"
#include "autotune/report/report_page.h"

namespace normforge {

namespace {

struct ReportOptions {
    explicit ReportOptions(CLI::App &command) : file(command) {
        add_value(command, "--html", "FILE", html, "The page to write; appears when it is whole")->required();
        add_flag(command, "--measure-copy", measure_copy,
                 "Measure what copies of as many bytes reach, and show it beside the results of this machine and "
                 "others of its kind");
        add_quiet(command, quiet);
    }

    DatabaseFileOption file;
    std::string html;
    bool measure_copy = false;
    bool quiet = false;
};

// Measured here for sessions of this machine and machines like it, each size once.
CopySpeed measured_copies() {
    return [here = signature(detect_hardware()), known = std::map<std::string, double>()](
               const StoredSession &session, int64_t rows) mutable -> std::optional<double> {
        if (session.hardware_signature != here) {
            return std::nullopt;
        }
        // A copy depends on the bytes alone.
        const std::string size = fmt::format("{}", copied_bytes(session.problem, rows));
        if (!known.contains(size)) {
            known[size] = measure_copy(session.problem, rows);
        }
        return known[size];
    };
}

void report(const ReportOptions &options) {
    if (options.html.empty()) {
        throw UsageError("--html: it is empty; allowed: the name of a file");
    }
    const std::string path = options.file.path();
    const Database database = Database::open_read_only(path);
    const ReportJson data = report_data(
        database, path,
        options.measure_copy ? measured_copies() : [](const auto &, int64_t) { return std::optional<double>(); });
    PendingFile out(options.html);
    out.write(report_page(embedded_report_page(), data));
    out.commit();
    if (!options.quiet) {
        print("wrote {}: {}, {}\n", options.html, counted(std::ssize(data["best"]), "problem"),
              counted(std::ssize(data["sessions"]), "session"));
    }
}

}  // namespace

void add_report_command(CLI::App &program, Run &run) {
    CLI::App &command = *program.add_subcommand(
        "report", "Write a page about a tuning database: one file, which needs no network");
    auto options = std::make_shared<ReportOptions>(command);
    command.footer("On it are what is best, speed by hidden size, and of each session how the search\n"
                   "went, what each knob is worth and how noisy the machine was.\n\n"
                   "Example:\n  normforge report tuning.db --html tuning.html");
    command.callback([options, &run] { run = [options] { report(*options); }; });
}

}  // namespace normforge
