#include "autotune/base/robust_stats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "autotune/base/trial.h"

namespace normforge {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Case {
    const char *name;
    std::vector<double> values;
    double median;
    double deviation;  // the median absolute one
};

class MedianTest : public testing::TestWithParam<Case> {};

TEST_P(MedianTest, IsExact) {
    EXPECT_EQ(median(GetParam().values), GetParam().median);
}

TEST_P(MedianTest, UncertaintyIsTwoStandardErrors) {
    const auto &[name, values, middle, deviation] = GetParam();
    const double expected = 2 * 1.4826 * deviation / std::sqrt(static_cast<double>(values.size()));
    EXPECT_DOUBLE_EQ(median_uncertainty(values), values.size() < 2 ? kInfinity : expected);
}

INSTANTIATE_TEST_SUITE_P(
    Of, MedianTest,
    testing::Values(Case{"one", {7}, 7, 0}, Case{"two", {4, 2}, 3, 1}, Case{"odd_number", {3, 1, 2}, 2, 1},
                    Case{"even_number", {8, 1, 4, 2}, 3, 1.5}, Case{"equals", {5, 5, 5, 5, 1e9}, 5, 0},
                    Case{"negatives", {-1, -3, 1, 3}, 0, 2}, Case{"infinity", {kInfinity, 1, 2, 3, -1e300}, 2, 1}),
    [](const auto &c) { return std::string(c.param.name); });

TEST(Median, OfNothingIsNoNumber) {
    EXPECT_TRUE(std::isnan(median({})));
    EXPECT_EQ(median_uncertainty({}), kInfinity);
}

TEST(Median, LeavesTheValuesAsTheyAre) {
    const std::vector<double> values = {3, 1, 2};
    median(values);
    EXPECT_EQ(values, (std::vector<double>{3, 1, 2}));
}

// The factor 1.4826 makes it the standard error of the mean that normal values have.
TEST(MedianUncertainty, FitsNormalValues) {
    std::mt19937_64 random(1);
    std::normal_distribution<double> distribution(100, 5);
    std::vector<double> values(10000);
    for (double &value : values) {
        value = distribution(random);
    }
    EXPECT_NEAR(median_uncertainty(values), 2 * 5 / std::sqrt(10000.0), 0.005);
}

// A few disturbed samples are told from the rest by neither.
TEST(MedianUncertainty, IsNotMovedByOutliers) {
    std::vector<double> values = {0.98, 0.99, 1.00, 1.01, 1.02, 0.99, 1.01};
    const double calm = median_uncertainty(values);
    values[6] = 1000;
    EXPECT_NEAR(median(values), 1, 0.011);
    EXPECT_LT(median_uncertainty(values), 2 * calm);
}

TEST(MedianRatio, IsOfThePairs) {
    Trial trial{};
    EXPECT_TRUE(std::isnan(median_ratio(trial)));
    // The machine slowed down by 10 in block 1: the medians' ratio would be 2 / 4.
    trial.samples = {{.block = 0, .position = 0, .calls = 1, .ns = 2, .reference_ns = 4},
                     {.block = 1, .position = 0, .calls = 1, .ns = 30, .reference_ns = 40},
                     {.block = 2, .position = 0, .calls = 1, .ns = 1, .reference_ns = 1}};
    EXPECT_EQ(median_ratio(trial), 0.75);
}

}  // namespace
}  // namespace normforge
