#include "autotune/cli/problem_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

namespace normforge {

namespace {

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

// The op and the type, which come first, bring the defaults of the others.
bool is_key(const std::string &field) {
    return field == "op" || field == "dtype";
}

void set_field(NormProblem &problem, const std::string &name, const std::string &text) {
    parse_option(option_name(name), [&] {
        visit_fields(problem, [&](const std::string &candidate, auto &field) {
            if (candidate == name) {
                parse_field(name, text, field);
            }
        });
    });
    if (is_key(name)) {
        problem = default_problem(problem.op, problem.hidden, problem.dtype);
    }
}

void append_new(std::vector<NormProblem> &problems, const std::vector<NormProblem> &more) {
    for (const NormProblem &problem : more) {
        if (std::ranges::none_of(problems, [&](const NormProblem &p) { return same_problem(p, problem); })) {
            problems.push_back(problem);
        }
    }
}

// The field's values one by one in copies of the problems.
void extend(std::vector<NormProblem> &problems, const std::string &field, const std::vector<std::string> &texts) {
    if (texts.empty()) {
        return;
    }
    std::vector<NormProblem> extended;
    for (const NormProblem &problem : problems) {
        std::vector<NormProblem> copies;
        for (const std::string &text : texts) {
            set_field(copies.emplace_back(problem), field, text);
        }
        append_new(extended, copies);
    }
    problems = std::move(extended);
}

}  // namespace

ProblemOptions::ProblemOptions(CLI::App &command, Count count) {
    const NormProblem example{};
    visit_fields(example, [&](const std::string &name, const auto &) {
        const std::string type = count == Count::one ? "VALUE" : "LIST";
        ListOption &list = fields_.emplace_back(name, command, option_name(name), type, help_for(name)).list;
        list.option().group("Problem")->required(name == "op" || name == "hidden");
    });
}

std::vector<NormProblem> ProblemOptions::problems() const {
    std::vector<NormProblem> problems = {default_problem(NF_LAYER_NORM, 1)};
    for (const bool keys : {true, false}) {
        for (const Field &field : fields_) {
            if (is_key(field.name) == keys) {
                extend(problems, field.name, field.list.values());
            }
        }
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
        throw UsageError("the options name " + std::to_string(all.size()) + " problems; allowed is one here");
    }
    return all.front();
}

}  // namespace normforge
