#include "autotune/cli/problem_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "autotune/base/text_file.h"
#include "autotune/manifest/problem_lists.h"
#include "autotune/manifest/row_counts.h"

namespace normforge {

namespace {

constexpr const char *kGroup = "Problem";

constexpr const char *kHelp[][2] = {
    {"op", "What to compute"},
    {"pass", "The norm, or the gradients of its inputs"},
    {"dtype", "Type of x, and by default of y, weight and bias"},
    {"output", "Type of y"},
    {"weight", "Type of the weight"},
    {"bias", "Type of the bias, by default none for rms_norm"},
    {"weight_offset", "What is added to the weight"},
    {"epsilon_place", "Where epsilon is added"},
    {"normalised", "Type that values are rounded to before the weight"},
    {"residual", "Type of what is added to x first"},
    {"sum", "Type in which x + residual is stored"},
    {"statistics", "Type that x + residual is rounded to before all else"},
    {"saved_statistics", "Store each row's mean and rstd; a backward pass needs them"},
    {"scale", "What an i8 or f8e4m3 output is divided by"},
    {"unquantised", "Type that values are rounded to before they are quantised"},
    {"portable", "The same bits on every CPU"},
    {"hidden", "Values in a row"},
};

std::string option_name(std::string field) {
    std::ranges::replace(field, '_', '-');
    return "--" + field;
}

std::string help_for(const std::string &field) {
    const auto *help = std::ranges::find(kHelp, field, [](const auto &entry) { return std::string(entry[0]); });
    if (help == std::end(kHelp)) {
        fmt::print(stderr, "normforge: field {} has no help\n", field);
        std::abort();
    }
    return fmt::format("{}: {}", (*help)[1], allowed_values(field));
}

}  // namespace

ProblemOptions::ProblemOptions(CLI::App &command, Count count) {
    const NormProblem example{};
    visit_fields(example, [&](const std::string &name, const auto &) {
        const std::string type = count == Count::one ? "VALUE" : "LIST";
        ListOption &list = fields_.emplace_back(name, command, option_name(name), type, help_for(name)).list;
        list.option().group(kGroup)->required(name == "op" || name == "hidden");
    });
    if (count == Count::several) {
        add_manifest(command);
    }
}

void ProblemOptions::add_manifest(CLI::App &command) {
    manifest_option_ = add_value(command, "--manifest", "FILE", manifest_,
                                 "The problems of this JSON file, in place of all options above; docs/manifest.md "
                                 "has its form");
    manifest_option_->group(kGroup);
    for (Field &field : fields_) {
        manifest_option_->excludes(&field.list.option());
    }
    // Before CLI11 asks for those that are required.
    manifest_option_->each([this](const std::string &) {
        for (Field &field : fields_) {
            field.list.option().required(false);
        }
    });
}

std::vector<ProblemRows> ProblemOptions::read_manifest(const std::vector<std::string> &usual_rows,
                                                       int64_t cold_bytes) const {
    return parse_manifest(read_text_file(manifest_), manifest_, usual_rows, cold_bytes);
}

std::vector<NormProblem> ProblemOptions::problems() const {
    std::vector<NormProblem> problems;
    if (has_manifest()) {
        std::ranges::transform(read_manifest({}, kLeastColdBytes), std::back_inserter(problems),
                               &ProblemRows::problem);
        return problems;
    }
    FieldLists lists;
    for (const Field &field : fields_) {
        for (const std::string &text : field.list.values()) {
            parse_option(option_name(field.name), [&] { check_field(field.name, text); });
            lists[field.name].push_back(text);
        }
    }
    try {
        return combinations(lists);
    } catch (const UserError &error) {
        throw UsageError(error.what());
    }
}

std::vector<ProblemRows> ProblemOptions::problems_with_rows(const RowsOption &rows,
                                                            const Hardware &machine) const {
    const int64_t cold = cold_bytes(machine);
    if (has_manifest()) {
        rows.rows(default_problem(NF_LAYER_NORM, 1), cold);  // which may have a mistake of its own
        return read_manifest(rows.texts(), cold);
    }
    std::vector<ProblemRows> result;
    for (const NormProblem &problem : problems()) {
        result.push_back({problem, rows.rows(problem, cold)});
    }
    return result;
}

NormProblem ProblemOptions::only_problem() const {
    const std::vector<NormProblem> all = problems();
    if (all.size() != 1) {
        throw UsageError("the options name " + std::to_string(all.size()) + " problems; allowed is one here");
    }
    return all.front();
}

}  // namespace normforge
