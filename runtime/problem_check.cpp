#include <array>

#include "runtime/norm_problem.h"

// The part of norm_problem.h that generated libraries need too: no allocation, no exception.

namespace normforge {

namespace {

template <typename Value, size_t count>
bool is_one_of(const NamedValue<Value> (&known)[count], Value value) {
    for (const NamedValue<Value> &candidate : known) {
        if (candidate.value == value) {
            return true;
        }
    }
    return false;
}

constexpr size_t count_fields() {
    NormProblem problem{};
    size_t count = 0;
    visit_fields(problem, [&](const char *, auto &) { count++; });
    return count;
}

std::array<int64_t, count_fields()> field_values(const NormProblem &problem) {
    std::array<int64_t, count_fields()> values{};
    size_t count = 0;
    visit_fields(problem, [&](const char *, const auto &field) { values[count++] = field; });
    return values;
}

}  // namespace

nf_status check_problem(const NormProblem &problem) {
    if (!is_one_of(kOps, problem.op)) {
        return NF_ERROR_UNKNOWN_OP;
    }
    if (problem.dtype == NF_NONE || !is_one_of(kDTypes, problem.dtype) || !is_one_of(kDTypes, problem.weight) ||
        !is_one_of(kDTypes, problem.bias)) {
        return NF_ERROR_UNKNOWN_DTYPE;
    }
    if (problem.hidden < 1 || problem.hidden > NF_MAX_HIDDEN) {
        return NF_ERROR_BAD_HIDDEN;
    }
    return NF_SUCCESS;
}

bool same_problem(const NormProblem &a, const NormProblem &b) {
    return field_values(a) == field_values(b);
}

}  // namespace normforge
