#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ostream>
#include <vector>

#include "runtime/norm_problem.h"

namespace normforge {

inline constexpr float kEpsilon = 1e-5f;

// The arithmetic that generators/row_moments.h promises, a second time and one value after the other.
struct Arithmetic {
    const char *name;
    bool lane_pivots;  // else about the row's mean, which another pass found
    size_t lanes;
    bool fused;  // products are added without being rounded
};

inline void PrintTo(const Arithmetic &arithmetic, std::ostream *out) {
    *out << arithmetic.name << ", " << arithmetic.lanes << " lanes" << (arithmetic.fused ? ", fused" : "");
}

struct Moments {
    double sum = 0;
    double squares = 0;
};

inline float multiply_add(bool fused, float a, float b, float c) {
    return fused ? std::fma(a, b, c) : a * b + c;
}

// The values that one lane takes in one run.
inline std::vector<std::vector<float>> lane_runs(const std::vector<float> &x, size_t lanes) {
    constexpr size_t kSteps = 64;
    const size_t steps = x.size() / lanes;
    const size_t chunks = steps < 2 * kSteps ? 0 : steps / kSteps - 1;
    std::vector<std::vector<float>> runs((chunks + 1) * lanes);
    for (size_t i = 0; i < x.size(); i++) {
        const size_t chunk = std::min(i / lanes / kSteps, chunks);
        runs[chunk * lanes + i % lanes].push_back(x[i]);
    }
    return runs;
}

inline Moments run_moments(const std::vector<float> &values, float pivot, bool fused) {
    float sum = 0;
    float squares = 0;
    for (float value : values) {
        const float d = value - pivot;
        sum += d;
        squares = multiply_add(fused, d, d, squares);
    }
    return {sum, squares};
}

inline float median_of_three(const std::vector<float> &values) {
    return std::max(std::min(values[0], values[1]), std::min(std::max(values[0], values[1]), values[2]));
}

// Of the row about `pivot`, the runs' moments merged in f64.
inline Moments row_moments(const std::vector<float> &x, const Arithmetic &arithmetic, float pivot) {
    Moments total;
    for (const std::vector<float> &run : lane_runs(x, arithmetic.lanes)) {
        const float own = arithmetic.lane_pivots ? median_of_three(run) : pivot;
        const Moments moments = run_moments(run, own, arithmetic.fused);
        const double shift = double(own) - pivot;
        const double count = static_cast<double>(run.size());
        total.sum += moments.sum + count * shift;
        total.squares += moments.squares + shift * (2 * moments.sum + count * shift);
    }
    return total;
}

inline float row_pivot(const std::vector<float> &x, const Arithmetic &arithmetic) {
    if (arithmetic.lane_pivots) {
        return median_of_three(lane_runs(x, arithmetic.lanes).front());
    }
    return static_cast<float>(row_moments(x, arithmetic, 0).sum / static_cast<double>(x.size()));
}

struct Affine {
    std::vector<float> weight;
    std::vector<float> bias;
};

inline std::vector<float> simulate(nf_op op, const Arithmetic &arithmetic, const std::vector<float> &x,
                                   const Affine &affine) {
    const double count = static_cast<double>(x.size());
    float centre = 0;
    float centre_error = 0;
    double mean_square;
    if (op == NF_LAYER_NORM) {
        const float pivot = row_pivot(x, arithmetic);
        const Moments moments = row_moments(x, arithmetic, pivot);
        const double mean = pivot + moments.sum / count;
        centre = static_cast<float>(mean);
        centre_error = static_cast<float>(mean - centre);
        mean_square = std::max(0.0, moments.squares - moments.sum * (moments.sum / count)) / count;
    } else {
        mean_square = row_moments(x, arithmetic, 0).squares / count;
    }
    const auto rstd = static_cast<float>(1 / std::sqrt(mean_square + kEpsilon));
    std::vector<float> y(x.size());
    for (size_t i = 0; i < x.size(); i++) {
        y[i] = ((x[i] - centre) - centre_error) * rstd;
        if (!affine.weight.empty()) {
            y[i] = multiply_add(arithmetic.fused, y[i], affine.weight[i], affine.bias[i]);
        }
    }
    return y;
}

}  // namespace normforge
