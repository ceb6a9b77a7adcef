#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/norm_problem.h"

namespace normforge {

// A row of inputs that is hard on some arithmetic, and its name for messages. All values are ones of their
// operands' types.
struct TestRow {
    std::string kind;
    bool finite = true;       // what is normalised is
    bool scale_free = false;  // so small or large that epsilon decides or does not matter: also right without one
    std::vector<float> x;
    std::vector<float> residual;  // empty where the problem has none
    std::vector<float> dy;        // empty for a forward pass
};

// Rows of every kind that norms are known to fail on and that the type of x can hold: random, large mean with tiny
// spread, equal values, outliers at several places, values at both ends of the type's range, zeros, NaN and
// infinity, a residual that cancels x. The same for equal arguments.
std::vector<TestRow> test_rows(const NormProblem &problem, uint64_t seed);

// Normally distributed values, as weights and biases are.
std::vector<float> normal_values(size_t count, double mean, double deviation, uint64_t seed);

// Each rounded to the type.
std::vector<float> rounded_to(nf_dtype type, std::vector<float> values);

}  // namespace normforge
