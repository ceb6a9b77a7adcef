#include "autotune/measure/accuracy_gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "autotune/base/content_hash.h"
#include "autotune/measure/error_bound.h"
#include "autotune/measure/guarded_values.h"
#include "runtime/reference.h"

namespace normforge {

namespace {

constexpr float kEpsilon = 1e-5f;
// Rows apart by more than their length, so that a kernel that ignores the stride or writes past the row is seen.
constexpr int64_t kInputGap = 5;
constexpr int64_t kOutputGap = 3;
constexpr float kCanary = -12345.5f;
// Test rows of long hidden sizes are fewer, so that all of them stay within 64 MiB.
constexpr int64_t kTestValues = 1 << 24;

bool same_bits(std::span<const float> a, std::span<const float> b) {
    return std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

}  // namespace

AccuracyGate::AccuracyGate(const NormProblem &problem) : problem_(problem), rows_(test_rows(problem.hidden, 1)) {
    rows_.resize(std::clamp<size_t>(kTestValues / problem.hidden, 2, rows_.size()));
    const auto hidden = static_cast<size_t>(problem.hidden);
    if (problem.weight != NF_NONE) {
        weight_ = normal_values(hidden, 1, 0.5, 101);
    }
    if (problem.bias != NF_NONE) {
        bias_ = normal_values(hidden, 0, 1, 102);
    }
    for (const TestRow &row : rows_) {
        nf_arguments arguments{
            1, row.x.data(), problem.hidden, nullptr, problem.hidden, weight_.data(), bias_.data(), kEpsilon};
        expected_.emplace_back(hidden);
        reference_norm(problem, arguments, expected_.back().data());
        bounds_.push_back(error_bounds(problem, row.x, weight_, bias_, kEpsilon));
    }
}

AccuracyGate::Result AccuracyGate::check(void (*entry)(const nf_arguments *)) const {
    const int64_t hidden = problem_.hidden;
    const int64_t x_stride = hidden + kInputGap;
    const int64_t y_stride = hidden + kOutputGap;
    const auto rows = static_cast<int64_t>(rows_.size());
    // Nothing behind the last row: its end is the end of readable memory.
    GuardedValues x(static_cast<size_t>((rows - 1) * x_stride + hidden));
    GuardedValues y(static_cast<size_t>((rows - 1) * y_stride + hidden));
    GuardedValues weight(weight_.size());
    GuardedValues bias(bias_.size());
    std::ranges::copy(weight_, weight.values().begin());
    std::ranges::copy(bias_, bias.values().begin());
    std::ranges::fill(x.values(), std::numeric_limits<float>::quiet_NaN());
    std::ranges::fill(y.values(), kCanary);
    for (int64_t r = 0; r < rows; r++) {
        std::ranges::copy(rows_[r].x, x.values().begin() + r * x_stride);
    }
    nf_arguments arguments{rows,
                           x.values().data(),
                           x_stride,
                           y.values().data(),
                           y_stride,
                           weight.values().data(),
                           bias.values().data(),
                           kEpsilon};
    entry(&arguments);

    Result result;
    std::vector<float> outputs;
    auto fail = [&](int64_t r, const std::string &what) {
        if (result.failure.empty()) {
            result.failure = fmt::format("row '{}': {}", rows_[r].kind, what);
        }
    };
    for (int64_t r = 0; r < rows; r++) {
        std::span<float> row = y.values().subspan(r * y_stride, hidden);
        for (int64_t i = 0; i < hidden; i++) {
            const double expected = expected_[r][i];
            if (std::isnan(row[i]) || std::isnan(expected)) {
                if (!std::isnan(row[i]) || !std::isnan(expected)) {
                    fail(r, fmt::format("value {} is {}, expected {}", i, row[i], expected));
                }
                row[i] = std::numeric_limits<float>::quiet_NaN();
                continue;
            }
            const double error = std::abs(row[i] - expected);
            if (!(error <= bounds_[r][i])) {
                fail(r, fmt::format("value {} is {}, expected {}, off by {:.3g} where {:.3g} is allowed", i,
                                    row[i], expected, error, bounds_[r][i]));
            }
            if (std::isfinite(bounds_[r][i])) {
                result.error_ratio = std::max(result.error_ratio, error / bounds_[r][i]);
            }
        }
        outputs.insert(outputs.end(), row.begin(), row.end());
        if (r + 1 < rows) {
            std::span<float> gap = y.values().subspan(r * y_stride + hidden, kOutputGap);
            if (std::ranges::any_of(gap, [](float value) { return value != kCanary; })) {
                fail(r, "wrote past the end of the row");
            }
        }
    }
    // Each row alone and in place must give the same bits.
    for (int64_t r = 0; r < rows && result.failure.empty(); r++) {
        nf_arguments alone = arguments;
        alone.rows = 1;
        alone.x = alone.y = x.values().data() + r * x_stride;
        alone.y_row_stride = x_stride;
        entry(&alone);
        std::span<float> row = x.values().subspan(r * x_stride, hidden);
        std::ranges::replace_if(
            row, [](float v) { return std::isnan(v); }, std::numeric_limits<float>::quiet_NaN());
        if (!same_bits(row, std::span(outputs).subspan(r * hidden, hidden))) {
            fail(r, "in place and alone, its bits differ");
        }
    }
    result.output_digest = content_hash(std::as_bytes(std::span(outputs)));
    return result;
}

}  // namespace normforge
