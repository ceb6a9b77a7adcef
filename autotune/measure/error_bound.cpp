#include "autotune/measure/error_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace normforge {

namespace {

constexpr double kRounding = 0x1p-24;    // of one f32 operation, relative
constexpr double kUnderflow = 0x1p-149;  // the smallest f32

// A lane adds at most 127 steps and a value of the tail before its sum moves to f64 (generators/row_moments); two
// more for the operations that make a value.
double sum_rounding(size_t hidden) {
    return (static_cast<double>(std::min<size_t>(hidden, 128)) + 2) * kRounding;
}

// What the row's statistics may be off by.
struct StatisticsError {
    double mean;
    double mean_square;  // or variance
};

StatisticsError plain_error(double mean_square, size_t hidden) {
    return {0, sum_rounding(hidden) * mean_square};
}

// The values are summed about pivots. A pivot is a value of the row that two others of its lane enclose or that
// the f32 mean of the row gives, so its distance from the mean is at most that of the second most extreme value,
// or the f32 mean's error.
StatisticsError pivoted_error(std::span<const float> x, double mean, double variance) {
    std::vector<double> distances(x.size());
    double absolute = 0;
    double deviation = 0;
    for (size_t i = 0; i < x.size(); i++) {
        distances[i] = x[i] - mean;
        absolute += std::abs(double(x[i]));
        deviation += std::abs(distances[i]);
    }
    if (deviation == 0) {
        return {0, 0};  // differences from any pivot are equal and few units of the last place, so sums are exact
    }
    const double count = static_cast<double>(x.size());
    const double rounding = sum_rounding(x.size());
    const size_t second = std::min<size_t>(1, x.size() - 1);
    std::nth_element(distances.begin(), distances.begin() + second, distances.end());
    double pivot = std::abs(distances[second]);
    std::nth_element(distances.begin(), distances.end() - 1 - second, distances.end());
    pivot = std::max(pivot, std::abs(distances[distances.size() - 1 - second]));
    pivot = std::max(pivot, rounding * absolute / count + kRounding * std::abs(mean));

    const double mean_error = rounding * (deviation / count + pivot);
    return {mean_error, rounding * (variance + pivot * pivot) + 2 * pivot * mean_error};
}

}  // namespace

std::vector<double> error_bounds(const NormProblem &problem, std::span<const float> x,
                                 std::span<const float> weight, std::span<const float> bias, float epsilon) {
    const double count = static_cast<double>(x.size());
    double mean = 0;
    if (problem.op == NF_LAYER_NORM) {
        double offset = 0;  // from the first value, so that equal values have exactly their mean
        for (float value : x) {
            offset += double(value) - x.front();
        }
        mean = x.front() + offset / count;
    }
    double mean_square = 0;
    for (float value : x) {
        mean_square += (value - mean) * (value - mean) / count;
    }
    if (!std::isfinite(mean_square)) {
        return std::vector<double>(x.size(), std::numeric_limits<double>::infinity());
    }
    const StatisticsError error =
        problem.op == NF_LAYER_NORM ? pivoted_error(x, mean, mean_square) : plain_error(mean_square, x.size());
    const double denominator = mean_square + epsilon;
    const double rstd = denominator > 0 ? 1 / std::sqrt(denominator) : 0;
    // The root of a denominator that is too small by its error is the worst case.
    const double left = denominator - error.mean_square;
    const double rstd_error =
        (left > 0 ? std::sqrt(denominator / left) - 1 : std::numeric_limits<double>::infinity()) + kRounding;

    std::vector<double> bounds(x.size());
    for (size_t i = 0; i < x.size(); i++) {
        const double distance = std::abs(x[i] - mean);
        const double scale = rstd * (weight.empty() ? 1 : std::abs(double(weight[i])));
        const double shift = bias.empty() ? 0 : std::abs(double(bias[i]));
        // Subtracting the mean in two parts and the products round four times, the last addition once.
        // rstd_error may be infinite; at the mean itself it has nothing to stretch.
        const double stretched = distance == 0 ? 0 : distance * (rstd_error + 4 * kRounding);
        bounds[i] = scale * (error.mean + stretched) + kRounding * (scale * distance + shift) + 4 * kUnderflow;
        if (distance == 0 && error.mean == 0) {
            bounds[i] = kRounding * shift + kUnderflow;
        }
    }
    return bounds;
}

}  // namespace normforge
