#pragma once

#include <cstdint>

#include "runtime/norm_problem.h"

namespace normforge {

// Forward problems of f32 values, and calls of them on rows without gaps.

inline NormProblem f32_problem(nf_op op, nf_dtype weight, nf_dtype bias, int64_t hidden) {
    NormProblem problem = default_problem(op, hidden);
    problem.weight = weight;
    problem.bias = bias;
    return problem;
}

inline nf_arguments f32_arguments(int64_t rows, int64_t hidden, const float *x, float *y, const float *weight,
                                  const float *bias, float epsilon) {
    nf_arguments arguments{};
    arguments.rows = rows;
    arguments.epsilon = epsilon;
    arguments.x = {x, hidden, 0};
    arguments.weight = weight;
    arguments.bias = bias;
    arguments.y = {y, hidden, 0};
    return arguments;
}

}  // namespace normforge
