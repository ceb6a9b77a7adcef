#include "autotune/cli/problem_options.h"

#include <fmt/format.h>

#include <algorithm>

namespace normforge {

namespace {

// An op, the first field, brings the others' defaults.
void set_field(NormProblem &problem, const std::string &name, const std::string &text) {
    visit_fields(problem, [&](const std::string &candidate, auto &field) {
        if (candidate == name) {
            parse_field(name, text, field);
        }
    });
    if (name == "op") {
        problem = default_problem(problem.op, problem.hidden);
    }
}

// Not every field of a type may be none.
std::string allowed_types(const std::string &field) {
    std::string names;
    for (const NamedValue<nf_dtype> &type : kDTypes) {
        NormProblem problem = default_problem(NF_LAYER_NORM, 1);
        set_field(problem, field, type.name);
        if (check_problem(problem) == NF_SUCCESS) {
            names += (names.empty() ? "" : ", ") + std::string(type.name);
        }
    }
    return names;
}

std::string allowed(const std::string &field) {
    return field == "op"       ? allowed_ops()
           : field == "hidden" ? fmt::format("a whole number from 1 to {}", NF_MAX_HIDDEN)
                               : allowed_types(field);
}

std::string help_for(const std::string &field) {
    const std::string help = field == "op"       ? "What to compute: "
                             : field == "hidden" ? "Values in a row: "
                             : field == "dtype"
                                 ? "Type of input and output: "
                                 : "Type of the " + field + ", by default what the op usually has: ";
    return help + allowed(field);
}

bool is_set(NormProblem &problem, const std::string &field, const std::string &text) {
    try {
        set_field(problem, field, text);
        return check_problem(problem) == NF_SUCCESS;
    } catch (const UserError &) {
        return false;
    }
}

// The field's values one by one in copies of the problem.
std::vector<NormProblem> with_each(const NormProblem &problem, const std::string &field,
                                   const std::vector<std::string> &texts) {
    std::vector<NormProblem> problems;
    for (const std::string &text : texts) {
        if (!is_set(problems.emplace_back(problem), field, text)) {
            throw UsageError(fmt::format("--{0}: {0} is '{1}'; allowed: {2}", field, text, allowed(field)));
        }
    }
    return problems;
}

void append_new(std::vector<NormProblem> &problems, const std::vector<NormProblem> &more) {
    for (const NormProblem &problem : more) {
        if (std::ranges::none_of(problems, [&](const NormProblem &p) { return same_problem(p, problem); })) {
            problems.push_back(problem);
        }
    }
}

}  // namespace

ProblemOptions::ProblemOptions(CLI::App &command, Count count) {
    const NormProblem example{};
    visit_fields(example, [&](const std::string &name, const auto &) {
        const std::string type = count == Count::one ? "VALUE" : "LIST";
        ListOption &list = fields_.emplace_back(command, "--" + name, type, help_for(name));
        list.option().group("Problem")->required(name == "op" || name == "hidden");
    });
}

std::vector<NormProblem> ProblemOptions::problems() const {
    std::vector<NormProblem> problems = {default_problem(NF_LAYER_NORM, 1)};
    for (const ListOption &field : fields_) {
        const std::vector<std::string> texts = field.values();
        if (!texts.empty()) {
            std::vector<NormProblem> extended;
            for (const NormProblem &problem : problems) {
                append_new(extended, with_each(problem, field.name(), texts));
            }
            problems = std::move(extended);
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
