#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "Halide.h"
#include "autotune/database/database.h"
#include "autotune/search/ladder.h"
#include "runtime/norm_problem.h"
#include "runtime/user_error.h"

namespace normforge {

// A mistake on the command line: exit status 2, where other failures give 1.
class UsageError : public UserError {
public:
    using UserError::UserError;
};

// Calls parse(), which reads an option's text; its UserError becomes a UsageError that names the option.
template <typename Parse>
auto parse_option(const std::string &option, Parse &&parse) {
    try {
        return parse();
    } catch (const UserError &error) {
        throw UsageError(option + ": " + error.what());
    }
}

// A whole number from 1 on, in the bounds of problem fields.
int64_t parse_count(const std::string &option, const std::string &text);

// An option of one value, which `type` stands for in the help. The value that is there before is the default, and
// an empty one is none. The last one given counts. CLI11 parses no values: its messages do not tell what is
// allowed.
CLI::Option *add_value(CLI::App &command, const std::string &option, const std::string &type, std::string &value,
                       const std::string &help);

CLI::Option *add_flag(CLI::App &command, const std::string &option, bool &value, const std::string &help);

// --quiet of a command that writes files. Where the command has a --json, that was added before, and still prints.
CLI::Option *add_quiet(CLI::App &command, bool &quiet);

// The help of --quiet of a command that prints results, which are not what it silences.
inline constexpr const char *kQuietNoteHelp = "Do not tell that there is no database yet";

// An option of several values, separated by commas or given by repeating it.
class ListOption {
public:
    ListOption(CLI::App &command, const std::string &option, const std::string &type, const std::string &help,
               const std::string &default_values = "");
    ListOption(const ListOption &) = delete;  // the command refers to it
    ListOption &operator=(const ListOption &) = delete;

    CLI::Option &option() { return *option_; }

    // An empty value between commas is one too, to be refused by whoever parses it.
    std::vector<std::string> values() const;

private:
    std::vector<std::string> texts_;
    CLI::Option *option_;
};

// --rows, a list of positive numbers.
class RowsOption {
public:
    RowsOption(CLI::App &command, const std::string &help);
    // As of row_counts.
    std::vector<int64_t> rows(const NormProblem &problem, int64_t cold_bytes) const;
    std::vector<std::string> texts() const { return list_.values(); }

private:
    ListOption list_;
};

// --target, one.
class TargetOption {
public:
    explicit TargetOption(CLI::App &command);
    bool is_given() const { return option_->count() > 0; }
    Halide::Target target() const;

private:
    std::string name_;
    CLI::Option *option_;
};

// --target, a list.
class TargetsOption {
public:
    explicit TargetsOption(CLI::App &command);
    std::vector<Halide::Target> targets() const;  // in the order given, without repeats

private:
    ListOption list_;
};

// For commands that look schedules up.
inline const std::string kDeviceHelp =
    std::string("GPU that schedules for cuda are chosen for, by default this machine's or, without one, ") +
    kUsualGpu;

// --device, a GPU that the static model knows.
class DeviceOption {
public:
    // The help ends with the names.
    DeviceOption(CLI::App &command, const std::string &help);
    bool is_given() const { return option_->count() > 0; }
    const GpuDevice &device() const;  // of one that is given

    // To choose schedules for. Throws UsageError for a device where none of the targets is for GPUs.
    Machine machine(const std::vector<Halide::Target> &targets) const;

private:
    std::string name_;
    CLI::Option *option_;
};

// --db, by default default_database_path().
class DatabaseOption {
public:
    explicit DatabaseOption(CLI::App &command);
    std::string path() const;

    // Nothing, and a note on standard error unless quiet, where no --db is given and the default file does not
    // exist.
    std::optional<Database> open_read_only(bool quiet) const;

private:
    std::string path_;
    CLI::Option *option_;
};

// FILE, the database that a command is about, by default default_database_path().
class DatabaseFileOption {
public:
    explicit DatabaseFileOption(CLI::App &command);
    std::string path() const;

private:
    std::string path_;
    CLI::Option *option_;
};

// What schedules are looked up in: the user's database, if there is one, and the shipped one.
KnownDatabases known_databases(const std::optional<Database> &own);

}  // namespace normforge
