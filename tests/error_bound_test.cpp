#include "autotune/measure/error_bound.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <ostream>
#include <tuple>

#include "autotune/measure/test_rows.h"
#include "runtime/reference.h"
#include "tests/simulated_norm.h"

namespace normforge {
namespace {

NormProblem problem_for(nf_op op, size_t hidden, const Affine &affine) {
    const nf_dtype operand = affine.weight.empty() ? NF_NONE : NF_F32;
    return {op, NF_F32, operand, operand, static_cast<int64_t>(hidden)};
}

std::vector<double> exact(nf_op op, const std::vector<float> &x, const Affine &affine) {
    std::vector<double> y(x.size());
    const auto hidden = static_cast<int64_t>(x.size());
    const nf_arguments arguments{
        1, x.data(), hidden, nullptr, hidden, affine.weight.data(), affine.bias.data(), kEpsilon};
    reference_norm(problem_for(op, x.size(), affine), arguments, y.data());
    return y;
}

std::vector<double> bounds_of(nf_op op, const std::vector<float> &x, const Affine &affine) {
    return error_bounds(problem_for(op, x.size(), affine), x, affine.weight, affine.bias, kEpsilon);
}

Affine normal_affine(size_t hidden) {
    return {normal_values(hidden, 1, 0.5, 11), normal_values(hidden, 0, 1, 12)};
}

// Those of the gate, and some that put a lane's pivot far from the row's mean.
std::vector<TestRow> rows_of(size_t hidden) {
    std::vector<TestRow> rows;
    for (uint64_t seed : {1, 1001}) {
        for (TestRow &row : test_rows(static_cast<int64_t>(hidden), seed)) {
            rows.push_back(std::move(row));
        }
    }
    std::vector<float> ramp(hidden), steps(hidden), alternating(hidden);
    for (size_t i = 0; i < hidden; i++) {
        ramp[i] = static_cast<float>(i) - 0.3f;
        steps[i] = i < hidden / 2 ? -7.7f : 1e4f;
        alternating[i] = i % 2 == 0 ? 1000.1f : -1e-3f;
    }
    rows.push_back({"ramp", ramp});
    rows.push_back({"two levels", steps});
    rows.push_back({"alternating", alternating});
    return rows;
}

std::vector<Arithmetic> arithmetics(nf_op op, size_t hidden) {
    std::vector<Arithmetic> all;
    for (size_t lanes : {1, 4, 16, 128}) {
        for (bool fused : {false, true}) {
            all.push_back({op == NF_LAYER_NORM ? "two passes" : "squares", false, lanes, fused});
            if (op == NF_LAYER_NORM && hidden >= 3 * lanes) {
                all.push_back({"lane pivots", true, lanes, fused});
            }
        }
    }
    return all;
}

class ErrorBoundTest : public testing::TestWithParam<std::tuple<nf_op, size_t>> {
protected:
    const nf_op op_ = std::get<0>(GetParam());
    const size_t hidden_ = std::get<1>(GetParam());
};

std::string name_of_case(const testing::TestParamInfo<ErrorBoundTest::ParamType> &info) {
    return field_text(std::get<0>(info.param)) + "_" + std::to_string(std::get<1>(info.param));
}

TEST_P(ErrorBoundTest, HoldsForEveryArithmetic) {
    for (const Affine &affine : {Affine{}, normal_affine(hidden_)}) {
        for (const TestRow &row : rows_of(hidden_)) {
            const std::vector<double> expected = exact(op_, row.x, affine);
            const std::vector<double> bounds = bounds_of(op_, row.x, affine);
            const bool finite = std::ranges::all_of(row.x, [](float value) { return std::isfinite(value); });
            for (const Arithmetic &arithmetic : arithmetics(op_, hidden_)) {
                const std::vector<float> y = simulate(op_, arithmetic, row.x, affine);
                for (size_t i = 0; i < hidden_ && finite; i++) {
                    ASSERT_LE(std::abs(y[i] - expected[i]), bounds[i])
                        << row.kind << ", value " << i << ", " << testing::PrintToString(arithmetic);
                }
            }
            EXPECT_EQ(std::isfinite(bounds[0]), finite) << row.kind;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(OpAndHidden, ErrorBoundTest,
                         testing::Combine(testing::Values(NF_LAYER_NORM, NF_RMS_NORM),
                                          testing::Values(1, 2, 3, 5, 7, 12, 16, 48, 100, 127, 192, 384, 511, 1000,
                                                          2047, 4095, 4096, 5000)),
                         name_of_case);

class TightnessTest : public ErrorBoundTest {};

// A bound that lets everything pass would pass the test above.
TEST_P(TightnessTest, IsATightOneForNormalValues) {
    const std::vector<float> x = normal_values(hidden_, 0, 1, 5);
    const std::vector<double> y = exact(op_, x, {});
    const double scale = std::abs(*std::ranges::max_element(y, {}, [](double value) { return std::abs(value); }));
    for (double bound : bounds_of(op_, x, {})) {
        EXPECT_LE(bound, 1e-3 * scale);
    }
}

INSTANTIATE_TEST_SUITE_P(OpAndHidden, TightnessTest,
                         testing::Combine(testing::Values(NF_LAYER_NORM, NF_RMS_NORM),
                                          testing::Values(16, 100, 1024, 4095, 5000)),
                         name_of_case);

// Distances from the mean are exactly zero whatever the schedule, so the result is the bias.
TEST(ErrorBound, OfEqualValuesIsOneRounding) {
    for (size_t hidden : {1, 2, 7, 100, 4095}) {
        const Affine affine = normal_affine(hidden);
        for (float value : {0.0f, 14.1f, -1e4f, 3e-5f}) {
            const std::vector<double> bounds = bounds_of(NF_LAYER_NORM, std::vector<float>(hidden, value), affine);
            for (size_t i = 0; i < hidden; i++) {
                EXPECT_LE(bounds[i], 0x1p-24 * std::abs(affine.bias[i]) + 0x1p-149) << value << ", " << hidden;
            }
        }
    }
}

TEST(ErrorBound, IsTheSameForTheMirroredRow) {
    std::vector<float> x = normal_values(100, 0, 1, 5);
    for (float &value : x) {
        value *= value > 0 ? 3.0f : 1.0f;  // one side reaches further than the other
    }
    std::vector<float> mirrored(x.size());
    std::ranges::transform(x, mirrored.begin(), std::negate());
    for (nf_op op : {NF_LAYER_NORM, NF_RMS_NORM}) {
        EXPECT_EQ(bounds_of(op, x, {}), bounds_of(op, mirrored, {}));
    }
}

// The f32 mean that two passes take for the pivot is then far from the values, in units of their spread.
TEST(ErrorBound, GrowsWithTheMean) {
    std::vector<float> x(100), moved(100);
    for (size_t i = 0; i < x.size(); i++) {
        x[i] = static_cast<float>(i % 2);
        moved[i] = x[i] + 0x1p20f;
    }
    EXPECT_GT(bounds_of(NF_LAYER_NORM, moved, {})[0], 2 * bounds_of(NF_LAYER_NORM, x, {})[0]);
}

TEST(ErrorBound, IsANumberWhereTheVarianceMayBeLost) {
    std::vector<float> x(99, 0x1p23f);  // which is the mean
    x[0] -= 1;
    x[98] += 1;
    const std::vector<double> bounds = bounds_of(NF_LAYER_NORM, x, {});
    EXPECT_TRUE(std::isinf(bounds[0]));
    EXPECT_GE(bounds[1], 0);
}

TEST(ErrorBound, GrowsWithWeightAndBias) {
    const std::vector<float> x = normal_values(100, 0, 1, 5);
    const std::vector<float> ones(100, 1), zeros(100, 0);
    const std::vector<double> plain = bounds_of(NF_LAYER_NORM, x, {ones, zeros});
    const std::vector<double> heavy = bounds_of(NF_LAYER_NORM, x, {std::vector<float>(100, -8), zeros});
    const std::vector<double> shifted = bounds_of(NF_LAYER_NORM, x, {ones, std::vector<float>(100, -1024)});
    for (size_t i = 0; i < x.size(); i++) {
        EXPECT_NEAR(heavy[i], 8 * plain[i], 1e-6 * heavy[i]);
        EXPECT_NEAR(shifted[i], plain[i] + 0x1p-14, 1e-6 * shifted[i]);
    }
}

}  // namespace
}  // namespace normforge
