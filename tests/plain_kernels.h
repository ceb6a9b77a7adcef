#pragma once

#include <cmath>
#include <cstdint>

#include "runtime/norm_problem.h"

namespace normforge {

// Norms as plain C++, computed in f64 and rounded once, and the parts that wrong ones are made of.

// What the kernels compute. A compiled kernel knows it; its arguments do not tell.
inline NormProblem problem;

struct Statistics {
    double mean = 0;
    double mean_square = 0;  // about the mean
};

inline Statistics statistics(const float *x) {
    Statistics result;
    const auto hidden = static_cast<double>(problem.hidden);
    if (problem.op == NF_LAYER_NORM) {
        result.mean = x[0];
        for (int64_t i = 0; i < problem.hidden; i++) {
            result.mean += (double(x[i]) - x[0]) / hidden;  // of equal values exactly their value
        }
    }
    for (int64_t i = 0; i < problem.hidden; i++) {
        result.mean_square += (x[i] - result.mean) * (x[i] - result.mean) / hidden;
    }
    return result;
}

inline float affine(double normalised, int64_t i, const nf_arguments &arguments) {
    const double weight = problem.weight == NF_NONE ? 1 : static_cast<const float *>(arguments.weight)[i];
    const double bias = problem.bias == NF_NONE ? 0 : static_cast<const float *>(arguments.bias)[i];
    return static_cast<float>(normalised * weight + bias);
}

inline void write_row(const float *x, float *y, const nf_arguments &arguments, const Statistics &row) {
    const double rstd = 1 / std::sqrt(row.mean_square + arguments.epsilon);
    for (int64_t i = 0; i < problem.hidden; i++) {
        y[i] = affine((x[i] - row.mean) * rstd, i, arguments);
    }
}

inline void right_row(const float *x, float *y, const nf_arguments &arguments, int64_t) {
    write_row(x, y, arguments, statistics(x));
}

using Row = void (*)(const float *x, float *y, const nf_arguments &arguments, int64_t r);

template <Row row>
void kernel(const nf_arguments *arguments) {
    for (int64_t r = 0; r < arguments->rows; r++) {
        row(static_cast<const float *>(arguments->x) + r * arguments->x_row_stride,
            static_cast<float *>(arguments->y) + r * arguments->y_row_stride, *arguments, r);
    }
}

}  // namespace normforge
