#include <array>

#include "runtime/norm_problem.h"

// The part of norm_problem.h that generated libraries need too: no allocation, no exception.

namespace normforge {

namespace {

template <typename Value>
bool is_known(Value value) {
    for (const NamedValue<Value> &candidate : known_values(value)) {
        if (candidate.value == value) {
            return true;
        }
    }
    return false;
}

nf_status check_field(std::string_view, nf_op value) {
    return is_known(value) ? NF_SUCCESS : NF_ERROR_UNKNOWN_OP;
}

nf_status check_field(std::string_view field, nf_dtype value) {
    return is_known(value) && is_legal_value(field, value) ? NF_SUCCESS : NF_ERROR_UNKNOWN_DTYPE;
}

nf_status check_field(std::string_view, int64_t hidden) {
    return hidden >= 1 && hidden <= NF_MAX_HIDDEN ? NF_SUCCESS : NF_ERROR_BAD_HIDDEN;
}

template <typename Value>
nf_status check_field(std::string_view, Value value) {
    return is_known(value) ? NF_SUCCESS : NF_ERROR_UNKNOWN_OPTION;
}

nf_status check_combination(const NormProblem &problem) {
    if (problem.weight_offset != NF_OFFSET_ZERO && problem.weight == NF_NONE) {
        return NF_ERROR_OFFSET_WITHOUT_WEIGHT;
    }
    if (problem.sum != NF_NONE && problem.residual == NF_NONE) {
        return NF_ERROR_SUM_WITHOUT_RESIDUAL;
    }
    if (problem.statistics != NF_NONE &&
        (problem.residual == NF_NONE || (problem.sum != NF_NONE && problem.sum != problem.statistics))) {
        return NF_ERROR_BAD_STATISTICS;
    }
    if (is_quantised(problem.output) != (problem.scale != NF_SCALE_NONE)) {
        return NF_ERROR_BAD_SCALE_KIND;
    }
    if (problem.unquantised != NF_NONE && !is_quantised(problem.output)) {
        return NF_ERROR_BAD_UNQUANTISED;
    }
    if (problem.pass == NF_BACKWARD && (problem.saved_statistics == NF_NO || is_quantised(problem.output))) {
        return NF_ERROR_BAD_BACKWARD;
    }
    return NF_SUCCESS;
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
    nf_status status = NF_SUCCESS;
    visit_fields(problem, [&](const char *name, const auto &field) {
        if (status == NF_SUCCESS) {
            status = check_field(name, field);
        }
    });
    return status == NF_SUCCESS ? check_combination(problem) : status;
}

bool same_problem(const NormProblem &a, const NormProblem &b) {
    return field_values(a) == field_values(b);
}

}  // namespace normforge
