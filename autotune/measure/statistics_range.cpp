#include "autotune/measure/statistics_range.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "autotune/measure/lane_sums.h"

namespace normforge {

namespace {

constexpr double kF64Rounding = 0x1p-53;
// Of the few f64 operations that come after the sums.
constexpr double kF64Operations = 0x1p-50;

// A mean of squares, epsilon, root and quotient.
constexpr double kF32Operations = 5 * kF32Rounding;

// f32's moments count from here on.
constexpr double kSmallestSquare = 0x1p-126;
// Below this no sum of squares of a row can leave f32's range.
constexpr double kSquareOfLargeSums = 0x1p100;

struct MomentsError {
    double mean = 0;
    double mean_square = 0;  // or variance
};

double divisor(const NormProblem &problem, double mean_square, double epsilon) {
    return problem.epsilon_place == NF_ON_DEVIATION ? std::sqrt(mean_square) + epsilon
                                                    : std::sqrt(mean_square + epsilon);
}

double median_of_three(double a, double b, double c) {
    return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

// The errors of one lane's sums of d = x - pivot and of d^2, and of the row's moments that they are moved to,
// times the number of values.
class PivotedSums {
public:
    // The pivot's distance from the row's mean, known but for `unknown`. distances are those of the values.
    void add(const LaneRun &run, std::span<const double> distances, double pivot, double unknown) {
        double sum = 0;
        double sum_magnitude = 0;
        double squares = 0;
        double sum_error = 0;
        for (size_t step = 0; step < run.count; step++) {
            const double d = distances[run.place(step)] - pivot;
            const double magnitude = std::fabs(d) + unknown;
            sum += d;
            sum_magnitude = std::fabs(sum) + static_cast<double>(step + 1) * unknown;
            squares += magnitude * magnitude;
            // Before they are added, the difference has been rounded, and the square of it once more.
            sum_error += sum_magnitude + magnitude;
            squares_error_ += squares + 3 * magnitude * magnitude;
        }
        const double reach = std::fabs(pivot) + unknown;
        sum_error_ += sum_error;
        squares_error_ += 2 * reach * sum_error;
        furthest_ = std::max(furthest_, reach);
    }

    MomentsError error(double variance, double count) const {
        const double mean = kF32Rounding * sum_error_ / count;
        const double squares = kF32Rounding * squares_error_ / count;
        return {mean, squares + mean * mean + kF64Operations * (variance + furthest_ * furthest_)};
    }

private:
    double sum_error_ = 0;
    double squares_error_ = 0;
    double furthest_ = 0;
};

MomentsError worse(const MomentsError &a, const MomentsError &b) {
    return {std::max(a.mean, b.mean), std::max(a.mean_square, b.mean_square)};
}

// So many variances the square of a row pivot's distance from the mean may be; of rows beyond it the moments are
// summed again in f64. Where it is about that, the kernel's own sums decide.
constexpr double kFurthestPivot = 16;
constexpr double kAboutThat = 1.01;

// The distance from the row's mean of the pivot that all lanes may share.
double row_pivot(std::span<const double> h, double mean) {
    const auto value = [&](size_t i) { return h[std::min(i, h.size() - 1)]; };
    return median_of_three(value(0), value(1), value(2)) - mean;
}

bool may_be_far(double pivot, double variance) {
    return pivot * pivot * kAboutThat > kFurthestPivot * variance;
}

bool may_be_near(double pivot, double variance) {
    return pivot * pivot <= kAboutThat * kFurthestPivot * variance;
}

bool all_equal(std::span<const double> h) {
    return std::ranges::all_of(h, [&](double value) { return value == h[0]; });
}

MomentsError pivoted_error(std::span<const double> h, double mean, double variance) {
    if (all_equal(h)) {
        return {};  // differences from any pivot are equal and few units of the last place, so sums are exact
    }
    std::vector<double> distances(h.size());
    for (size_t i = 0; i < h.size(); i++) {
        distances[i] = h[i] - mean;
    }
    const double count = static_cast<double>(h.size());
    const double shared_pivot = row_pivot(h, mean);
    const bool shares_pivot = may_be_near(shared_pivot, variance);
    // Of the mean that two passes take for the pivot.
    const double pivot_error = lane_mean_error(h, 0) + kF32Rounding * std::fabs(mean);
    MomentsError worst;
    for_each_lanes(h.size(), [&](size_t lanes) {
        PivotedSums two_passes, lane_pivots, row_pivots;
        for_each_run(h.size(), lanes, [&](const LaneRun &run) {
            two_passes.add(run, distances, 0, pivot_error);
            if (shares_pivot) {
                row_pivots.add(run, distances, shared_pivot, 0);
            }
            if (h.size() >= 3 * lanes) {
                lane_pivots.add(
                    run, distances,
                    median_of_three(distances[run.place(0)], distances[run.place(1)], distances[run.place(2)]), 0);
            }
        });
        for (const PivotedSums &sums : {two_passes, lane_pivots, row_pivots}) {
            worst = worse(worst, sums.error(variance, count));
        }
    });
    // The mean's second number may underflow, and so may a square.
    return {worst.mean + kF32Smallest, worst.mean_square + kF32Smallest};
}

MomentsError f64_error(const NormProblem &problem, std::span<const double> h, double mean_square) {
    double magnitude = 0;
    for (double value : h) {
        magnitude += std::fabs(value) * kF64Rounding;
    }
    const double mean = problem.op == NF_LAYER_NORM ? magnitude : 0;
    return {mean, static_cast<double>(h.size()) * kF64Rounding * mean_square + mean * mean};
}

// Rows whose squares leave f32's range, or whose f32 moments say so, are summed in f64, and rows far from their
// pivot.
MomentsError moments_error(const NormProblem &problem, std::span<const double> h, double mean, double mean_square,
                           double epsilon) {
    MomentsError f32;
    if (problem.op == NF_LAYER_NORM) {
        f32 = pivoted_error(h, mean, mean_square);
    } else {
        std::vector<double> squares(h.begin(), h.end());
        std::ranges::transform(h, squares.begin(), [](double value) { return value * value; });
        f32.mean_square = lane_mean_error(squares, 1);
    }
    const double added = problem.epsilon_place == NF_IN_ROOT ? epsilon : epsilon * epsilon;
    MomentsError error;
    if (mean_square + f32.mean_square + added >= kSmallestSquare) {
        error = f32;
    }
    const bool is_far = problem.op == NF_LAYER_NORM && may_be_far(row_pivot(h, mean), mean_square);
    if (mean_square - f32.mean_square + added < kSmallestSquare || mean_square > kSquareOfLargeSums || is_far) {
        error = worse(error, f64_error(problem, h, mean_square));
    }
    if (problem.op == NF_LAYER_NORM && !all_equal(h)) {
        // The second of the mean's two numbers, and a value's difference from the first, are rounded too.
        error.mean += 2 * kF32Rounding * kF32Rounding * std::fabs(mean);
    }
    return error;
}

// What merging in f32 adds. Lanes' means are taken relative to the median of the row's first three values.
MomentsError merge_error(const NormProblem &problem, std::span<const double> h, double mean, double mean_square) {
    if (problem.op != NF_LAYER_NORM) {
        return {0, kMerges * kF32Rounding * mean_square};
    }
    if (all_equal(h)) {
        return {};
    }
    const double deviation = std::sqrt(mean_square);
    const double reach = std::fabs(row_pivot(h, mean)) + deviation;
    const double of_mean = kMerges * kF32Rounding * reach;
    return {of_mean, 2 * kMerges * kF32Rounding * mean_square + 2 * deviation * of_mean + of_mean * of_mean};
}

double mean_square_of(std::span<const double> h, double mean) {
    double mean_square = 0;
    for (double value : h) {
        mean_square += (value - mean) * (value - mean) / static_cast<double>(h.size());
    }
    return mean_square;
}

StatisticsRange range_in_f32(const NormProblem &problem, std::span<const double> h, double mean, double epsilon) {
    double largest = 0;
    for (double value : h) {
        largest = std::max(largest, std::fabs(value));
    }
    // As the kernel scales the row; all that follows is exact but for the errors that are counted.
    const double scale = largest == 0 ? 1 : std::ldexp(1.0, -std::ilogb(largest));
    std::vector<double> scaled(h.begin(), h.end());
    for (double &value : scaled) {
        value *= scale;
    }
    mean *= scale;
    epsilon *= problem.epsilon_place == NF_IN_ROOT ? scale * scale : scale;
    const double mean_square = mean_square_of(scaled, mean);
    MomentsError error;
    if (problem.op == NF_LAYER_NORM) {
        error = pivoted_error(scaled, mean, mean_square);
        error.mean += all_equal(h) ? 0 : 2 * kF32Rounding * kF32Rounding * std::fabs(mean);
    } else {
        std::vector<double> squares(scaled);
        std::ranges::transform(scaled, squares.begin(), [](double value) { return value * value; });
        error.mean_square = lane_mean_error(squares, 1);
    }
    const MomentsError merging = merge_error(problem, scaled, mean, mean_square);
    error.mean += merging.mean;
    error.mean_square += merging.mean_square;
    const double low = std::max(0.0, mean_square - error.mean_square);
    const double high = mean_square + error.mean_square;
    return {error.mean / scale, (1 - kF32Operations) * scale / divisor(problem, high, epsilon),
            (1 + kF32Operations) * scale / divisor(problem, low, epsilon)};
}

}  // namespace

StatisticsRange statistics_range(const NormProblem &problem, std::span<const double> h, double mean,
                                 double epsilon, MergedIn merged) {
    if (merged == MergedIn::f32) {
        return range_in_f32(problem, h, mean, epsilon);
    }
    const double mean_square = mean_square_of(h, mean);
    const MomentsError error = moments_error(problem, h, mean, mean_square, epsilon);
    const double low = std::max(0.0, mean_square - error.mean_square);
    const double high = mean_square + error.mean_square;
    return {error.mean, (1 - kF64Operations) / divisor(problem, high, epsilon),
            (1 + kF64Operations) / divisor(problem, low, epsilon)};
}

}  // namespace normforge
