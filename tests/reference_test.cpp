#include "runtime/reference.h"

#include <cmath>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "tests/pinned_rows.h"

namespace normforge {
namespace {

// One row without weight and bias.
std::vector<double> norm(nf_op op, const std::vector<float> &x, float epsilon) {
    const NormProblem problem = {op, NF_F32, NF_NONE, NF_NONE, static_cast<int64_t>(x.size())};
    std::vector<double> y(x.size());
    const nf_arguments arguments = {.rows = 1,
                                    .x = x.data(),
                                    .x_row_stride = problem.hidden,
                                    .y = nullptr,
                                    .y_row_stride = 0,
                                    .weight = nullptr,
                                    .bias = nullptr,
                                    .epsilon = epsilon};
    reference_norm(problem, arguments, y.data());
    return y;
}

class EachPinnedRow : public testing::TestWithParam<PinnedRow> {};

TEST_P(EachPinnedRow, HasTheseValues) {
    const std::vector<double> y = norm(GetParam().op, GetParam().x, GetParam().epsilon);
    for (const auto &[index, expected] : GetParam().y) {
        EXPECT_NEAR(y.at(index < 0 ? y.size() + index : index), expected,
                    1e-7 * std::max(1.0, std::fabs(expected)))
            << "at " << index;
    }
}

INSTANTIATE_TEST_SUITE_P(All, EachPinnedRow, testing::ValuesIn(pinned_rows()),
                         [](const auto &test) { return test.param.name; });

// A plain sum of these squares is off by 1.3e-12.
TEST(Reference, LongRowKeepsTheDigitsOfF64) {
    const double value = 0.1f;
    const double expected = value / std::sqrt(value * value + static_cast<double>(1e-6f));
    for (double y : norm(NF_RMS_NORM, make_row((1 << 20) + 1, [&](int) { return value; }), 1e-6f)) {
        ASSERT_NEAR(y, expected, 1e-15);
    }
}

TEST(Reference, DeviationsKeepTheDigitsOfF64) {
    const std::vector<double> y = norm(NF_LAYER_NORM, {0, 0, 1}, 0);
    EXPECT_NEAR(y[0], -std::sqrt(0.5), 1e-15);
    EXPECT_NEAR(y[2], std::sqrt(2.0), 1e-15);
}

// Mean 1e4, deviation 1e-2: the values' distances from the mean are exact in f32.
TEST(Reference, LargeMeanCostsNoDigits) {
    const double step = std::ldexp(1, -7);
    const auto x = make_row(4096, [&](int i) { return i % 2 ? 1e4 + step : 1e4 - step; });
    const double expected = step / std::sqrt(step * step + static_cast<double>(1e-5f));
    const std::vector<double> y = norm(NF_LAYER_NORM, x, 1e-5f);
    EXPECT_NEAR(y[0], -expected, 1e-14);
    EXPECT_NEAR(y[1], expected, 1e-14);
}

TEST(Reference, InfiniteValueGivesWhatTheFormulaGives) {
    const std::vector<double> rms = norm(NF_RMS_NORM, {1, INFINITY, 3}, 1e-5f);
    EXPECT_EQ(rms[0], 0);
    EXPECT_TRUE(std::isnan(rms[1]));
    for (double y : norm(NF_LAYER_NORM, {1, INFINITY, 3}, 1e-5f)) {
        EXPECT_TRUE(std::isnan(y));
    }
}

TEST(Reference, WeightAndBiasAreReadIfTheProblemHasThem) {
    const std::vector<float> x = {-1, 1};
    const std::vector<float> weight = {2, 3};
    const std::vector<float> bias = {10, 20};
    for (nf_dtype weight_type : {NF_NONE, NF_F32}) {
        for (nf_dtype bias_type : {NF_NONE, NF_F32}) {
            const NormProblem problem = {NF_RMS_NORM, NF_F32, weight_type, bias_type, 2};
            const nf_arguments arguments = {1, x.data(), 2, nullptr, 0, weight.data(), bias.data(), 0};
            std::vector<double> y(2);
            reference_norm(problem, arguments, y.data());
            for (size_t index = 0; index < 2; index++) {
                EXPECT_EQ(y[index], x[index] * (weight_type ? weight[index] : 1) + (bias_type ? bias[index] : 0));
            }
        }
    }
}

TEST(Reference, RowsAreApartInXAndDenseInY) {
    const std::vector<float> x = {-1, 1, 99, 5, 5, 99, 8, 6};
    const NormProblem problem = {NF_LAYER_NORM, NF_F32, NF_NONE, NF_NONE, 2};
    const nf_arguments arguments = {3, x.data(), 3, nullptr, 0, nullptr, nullptr, 0.0f};
    std::vector<double> y(6);
    reference_norm(problem, arguments, y.data());
    EXPECT_EQ(y[0], -1);
    EXPECT_EQ(y[1], 1);
    EXPECT_TRUE(std::isnan(y[2]));  // 0 / 0: no deviation and no epsilon
    EXPECT_EQ(y[4], 1);
    EXPECT_EQ(y[5], -1);
}

}  // namespace
}  // namespace normforge
