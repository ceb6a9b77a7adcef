#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace normforge {

// A row of inputs that is hard on some arithmetic, and its name for messages.
struct TestRow {
    std::string kind;
    std::vector<float> x;
};

// Rows of every kind that norms are known to fail on: random, large mean with tiny spread, equal values, one
// outlier at several places, huge and tiny values, zeros, NaN and infinity. The same for equal arguments.
std::vector<TestRow> test_rows(int64_t hidden, uint64_t seed);

// Normally distributed values, as weights and biases are.
std::vector<float> normal_values(size_t count, double mean, double deviation, uint64_t seed);

}  // namespace normforge
