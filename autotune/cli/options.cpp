#include "autotune/cli/options.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "schedules/target.h"

namespace normforge {

namespace {

std::string help_for(const std::string &field) {
    if (field == "op") {
        return "What to compute: " + allowed_ops();
    }
    if (field == "hidden") {
        return fmt::format("Values in a row, 1 to {}", NF_MAX_HIDDEN);
    }
    const std::string types = allowed_dtypes();
    return field == "dtype" ? "Type of input and output: " + types
                            : fmt::format("Type of the {}: {}; by default what the op usually has", field, types);
}

// Turns a UserError about an option's text into a UsageError that names the option.
template <typename Parse>
auto parsed(const std::string &option, Parse &&parse) {
    try {
        return parse();
    } catch (const UserError &error) {
        throw UsageError(fmt::format("--{}: {}", option, error.what()));
    }
}

}  // namespace

ProblemOptions::ProblemOptions(CLI::App &command) {
    NormProblem example{};
    visit_fields(example, [&](const char *name, auto &) { fields_.push_back({name, {}}); });
    for (Field &field : fields_) {
        CLI::Option *option = command.add_option("--" + field.name, field.texts, help_for(field.name))
                                  ->delimiter(',')
                                  ->group("Problem");
        if (field.name == "op" || field.name == "hidden") {
            option->required();
        }
    }
}

std::vector<NormProblem> ProblemOptions::problems() const {
    std::vector<NormProblem> problems;
    for (const std::string &op_text : fields_.front().texts) {
        nf_op op{};
        parsed("op", [&] { parse_field("op", op_text, op); });
        std::vector<NormProblem> of_op = {default_problem(op, 1)};
        for (size_t index = 1; index < fields_.size(); index++) {
            const Field &chosen = fields_[index];
            if (chosen.texts.empty()) {
                continue;
            }
            std::vector<NormProblem> extended;
            for (const NormProblem &problem : of_op) {
                for (const std::string &text : chosen.texts) {
                    extended.push_back(problem);
                    visit_fields(extended.back(), [&](const std::string &name, auto &field) {
                        if (name == chosen.name) {
                            parsed(name, [&] { parse_field(name, text, field); });
                        }
                    });
                }
            }
            of_op = std::move(extended);
        }
        problems.insert(problems.end(), of_op.begin(), of_op.end());
    }
    for (const NormProblem &problem : problems) {
        if (const nf_status status = check_problem(problem)) {
            throw UsageError(fmt::format("{}: {}", to_text(problem), nf_status_message(status)));
        }
    }
    return problems;
}

NormProblem ProblemOptions::only_problem() const {
    const std::vector<NormProblem> all = problems();
    if (all.size() != 1) {
        throw UsageError("give one op and one value of each other option; lists are not allowed here");
    }
    return all.front();
}

RowsOption::RowsOption(CLI::App &command, const std::string &default_rows)
    : texts_(CLI::detail::split(default_rows, ',')) {
    command.add_option("--rows", texts_, "Numbers of rows, a list")->delimiter(',')->capture_default_str();
}

std::vector<int64_t> RowsOption::rows() const {
    std::set<int64_t> rows;
    for (const std::string &text : texts_) {
        int64_t number = 0;
        parsed("rows", [&] { parse_field("rows", text, number); });
        rows.insert(number);
    }
    return {rows.begin(), rows.end()};
}

TargetOption::TargetOption(CLI::App &command) {
    command
        .add_option("--target", names_,
                    "Halide targets, a list, such as x86-64-linux-avx2-fma-f16c; host is this machine")
        ->delimiter(',')
        ->capture_default_str();
}

std::vector<Halide::Target> TargetOption::targets() const {
    std::vector<Halide::Target> targets;
    for (const std::string &name : names_) {
        targets.push_back(parsed("target", [&] { return kernel_target(name); }));
    }
    return targets;
}

Halide::Target TargetOption::only_target() const {
    if (names_.size() != 1) {
        throw UsageError("--target: one target is allowed here");
    }
    return targets().front();
}

DatabaseOption::DatabaseOption(CLI::App &command) {
    command.add_option(
        "--db", path_,
        "Tuning database; by default the file that NORMFORGE_DB names, else normforge/tuning.db in the "
        "user's data folder");
}

std::string DatabaseOption::path() const {
    return path_.empty() ? default_database_path() : path_;
}

std::optional<Database> DatabaseOption::open_read_only() const {
    if (path_.empty() && !std::filesystem::exists(path())) {
        return std::nullopt;
    }
    return Database::open_read_only(path());
}

void warn(const std::string &text) {
    fmt::print(stderr, "normforge: {}\n", text);
}

}  // namespace normforge
