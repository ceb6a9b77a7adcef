#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "Halide.h"
#include "autotune/database/database.h"
#include "runtime/norm_problem.h"
#include "runtime/user_error.h"

namespace normforge {

// A mistake on the command line: exit status 2, where other failures give 1.
class UsageError : public UserError {
public:
    using UserError::UserError;
};

// The options that name problems: --op and one for every other field, each a list; the problems are all
// combinations.
class ProblemOptions {
public:
    explicit ProblemOptions(CLI::App &command);
    std::vector<NormProblem> problems() const;
    NormProblem only_problem() const;  // UsageError for more than one

private:
    struct Field {
        std::string name;
        std::vector<std::string> texts;
    };
    std::vector<Field> fields_;
};

// --rows, a list of positive numbers.
class RowsOption {
public:
    RowsOption(CLI::App &command, const std::string &default_rows);
    std::vector<int64_t> rows() const;  // rising, without repeats

private:
    std::vector<std::string> texts_;
};

// --target, a list.
class TargetOption {
public:
    explicit TargetOption(CLI::App &command);
    std::vector<Halide::Target> targets() const;
    Halide::Target only_target() const;

private:
    std::vector<std::string> names_ = {"host"};
};

// --db, by default default_database_path().
class DatabaseOption {
public:
    explicit DatabaseOption(CLI::App &command);
    std::string path() const;
    // Nothing where no --db is given and the default file does not exist.
    std::optional<Database> open_read_only() const;

private:
    std::string path_;
};

// Standard error, in the manner of "normforge: text".
void warn(const std::string &text);

}  // namespace normforge
