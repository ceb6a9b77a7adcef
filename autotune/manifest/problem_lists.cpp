#include "autotune/manifest/problem_lists.h"

#include <algorithm>

#include "runtime/user_error.h"

namespace normforge {

namespace {

// The op and the type, which come first, bring the defaults of the others.
bool is_key(const std::string &field) {
    return field == "op" || field == "dtype";
}

void set_field(NormProblem &problem, const std::string &name, const std::string &text) {
    visit_fields(problem, [&](const std::string &candidate, auto &field) {
        if (candidate == name) {
            parse_field(name, text, field);
        }
    });
    if (is_key(name)) {
        problem = default_problem(problem.op, problem.hidden, problem.dtype);
    }
}

// The field's values one by one in copies of the problems.
void extend(std::vector<NormProblem> &problems, const std::string &field, const std::vector<std::string> &texts) {
    std::vector<NormProblem> extended;
    for (const NormProblem &problem : problems) {
        for (const std::string &text : texts) {
            NormProblem copy = problem;
            set_field(copy, field, text);
            if (std::ranges::none_of(extended,
                                     [&](const NormProblem &each) { return same_problem(each, copy); })) {
                extended.push_back(copy);
            }
        }
    }
    problems = std::move(extended);
}

}  // namespace

void check_field(const std::string &field, const std::string &text) {
    NormProblem problem = default_problem(NF_LAYER_NORM, 1);
    set_field(problem, field, text);
}

std::vector<NormProblem> combinations(const FieldLists &lists) {
    const NormProblem start = default_problem(NF_LAYER_NORM, 1);
    std::vector<NormProblem> problems = {start};
    for (const bool keys : {true, false}) {
        visit_fields(start, [&](const std::string &field, const auto &) {
            if (const auto found = lists.find(field); found != lists.end() && is_key(field) == keys) {
                extend(problems, field, found->second);
            }
        });
    }
    for (const NormProblem &problem : problems) {
        if (const nf_status status = check_problem(problem)) {
            throw UserError(to_text(problem) + ": " + nf_status_message(status));
        }
    }
    return problems;
}

}  // namespace normforge
