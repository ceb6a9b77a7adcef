#include "autotune/model/rank_correlation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace normforge {
namespace {

using Values = std::vector<double>;

TEST(RankCorrelation, SeesTheOrderAlone) {
    EXPECT_EQ(rank_correlation(Values{1, 2, 3}, Values{-5, 0.1, 1e9}), 1);
    EXPECT_EQ(rank_correlation(Values{1, 2, 3}, Values{3, 2, 1}), -1);
    EXPECT_EQ(rank_correlation(Values{1, 2, 3, 4}, Values{2, 1, 4, 3}), 0.6);  // 1 - 6 * 4 / (4 * 15)
}

// The ranks of the first are 0.5, 0.5, 2: covariance 1.5, variances 1.5 and 2.
TEST(RankCorrelation, EqualValuesShareARank) {
    EXPECT_DOUBLE_EQ(rank_correlation(Values{7, 7, 9}, Values{1, 2, 3}), 1.5 / std::sqrt(1.5 * 2));
}

TEST(RankCorrelation, IsNoneOfTooLittle) {
    EXPECT_TRUE(std::isnan(rank_correlation(Values{}, Values{})));
    EXPECT_TRUE(std::isnan(rank_correlation(Values{1}, Values{1})));
    EXPECT_TRUE(std::isnan(rank_correlation(Values{1, 1}, Values{1, 2})));
}

}  // namespace
}  // namespace normforge
