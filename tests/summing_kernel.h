#pragma once

#include <string>
#include <vector>

#include "runtime/kernel_table.h"

namespace normforge {

// Backward passes as a plain entry computes them, in memory of f32 values.
constexpr int64_t kHidden = 5;

inline NormProblem backward_problem(const std::string &fields = "weight=f32,bias=f32", int64_t hidden = kHidden) {
    return parse_problem("op=layer_norm,pass=backward,dtype=f32,saved_statistics=yes," + fields +
                         ",hidden=" + std::to_string(hidden));
}

// Of the calls of sum_rows.
inline std::vector<int64_t> rows_of_calls;

// The sums of a call's rows in f64, rounded to f32 once. The gradient of x is left out: nothing here reads it.
template <int64_t hidden>
void sum_rows(const nf_arguments *arguments) {
    rows_of_calls.push_back(arguments->rows);
    for (int64_t index = 0; index < hidden; index++) {
        double dweight = 0;
        double dbias = 0;
        for (int64_t row = 0; row < arguments->rows; row++) {
            const auto *x = static_cast<const float *>(arguments->x.data) + row * arguments->x.row_stride;
            const auto *dy = static_cast<const float *>(arguments->dy.data) + row * arguments->dy.row_stride;
            dweight += (double{x[index]} - arguments->mean[row]) * arguments->rstd[row] * dy[index];
            dbias += dy[index];
        }
        if (arguments->dweight) {
            static_cast<float *>(arguments->dweight)[index] = static_cast<float>(dweight);
        }
        if (arguments->dbias) {
            static_cast<float *>(arguments->dbias)[index] = static_cast<float>(dbias);
        }
    }
}

template <int64_t hidden = kHidden>
nf_kernel summing_kernel(const NormProblem &problem) {
    static constexpr nf_variant kVariant{sum_rows<hidden>, 0, "sum_rows", "", ""};
    return {problem, 0, "any", 1, &kVariant};
}

}  // namespace normforge
