#include "autotune/measure/test_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "runtime/float_types.h"

namespace normforge {
namespace {

class TestRowsTest : public testing::TestWithParam<std::tuple<nf_dtype, nf_dtype, int64_t>> {
protected:
    const NormProblem problem_ = [] {
        NormProblem problem = default_problem(NF_LAYER_NORM, std::get<2>(GetParam()), std::get<0>(GetParam()));
        problem.residual = std::get<1>(GetParam());
        return problem;
    }();
    const std::vector<TestRow> rows_ = test_rows(problem_, 1);
};

TEST_P(TestRowsTest, ValuesAreOnesOfTheirTypes) {
    const auto hidden = static_cast<size_t>(problem_.hidden);
    for (const TestRow &row : rows_) {
        ASSERT_EQ(row.x.size(), hidden) << row.kind;
        ASSERT_EQ(row.residual.size(), problem_.residual == NF_NONE ? 0 : hidden) << row.kind;
        EXPECT_TRUE(row.dy.empty());
        for (size_t i = 0; i < hidden; i++) {
            EXPECT_TRUE(std::isnan(row.x[i]) || row.x[i] == round_to(problem_.dtype, row.x[i])) << row.kind;
        }
        for (float value : row.residual) {
            EXPECT_TRUE(std::isnan(value) || value == round_to(problem_.residual, value)) << row.kind;
        }
    }
}

TEST_P(TestRowsTest, FiniteRowsHaveFiniteSums) {
    for (const TestRow &row : rows_) {
        bool finite = true;
        for (size_t i = 0; i < row.x.size(); i++) {
            finite = finite && std::isfinite(row.x[i] + (row.residual.empty() ? 0 : row.residual[i]));
        }
        EXPECT_EQ(row.finite, finite) << row.kind;
        EXPECT_EQ(row.finite, row.kind != "NaN" && row.kind != "infinity" && row.kind != "minus infinity");
    }
}

TEST_P(TestRowsTest, ReachBothEndsOfTheType) {
    const double largest = largest_value(problem_.dtype);
    const double smallest_normal = problem_.dtype == NF_F16 ? 0x1p-14 : 0x1p-126;
    double top = 0;
    bool subnormal = false;
    for (const TestRow &row : rows_) {
        for (float value : row.x) {
            top = std::max<double>(top, std::isfinite(value) ? std::fabs(value) : 0);
            subnormal = subnormal || (value != 0 && std::fabs(value) < smallest_normal);
        }
    }
    EXPECT_GE(top, 0.7 * largest);
    EXPECT_TRUE(subnormal);
}

TEST_P(TestRowsTest, KindsAreDistinctAndTheSameForOneSeed) {
    std::set<std::string> kinds;
    const std::vector<TestRow> again = test_rows(problem_, 1);
    const std::vector<TestRow> other = test_rows(problem_, 2);
    ASSERT_EQ(again.size(), rows_.size());
    for (size_t row = 0; row < rows_.size(); row++) {
        EXPECT_TRUE(kinds.insert(rows_[row].kind).second) << rows_[row].kind;
        EXPECT_EQ(again[row].kind, rows_[row].kind);
        EXPECT_TRUE(rows_[row].kind == "NaN" || again[row].x == rows_[row].x) << rows_[row].kind;
    }
    EXPECT_NE(other.front().x, rows_.front().x);
    for (const char *kind : {"normal", "mean 1e4", "all 14.1", "zeros", "NaN", "infinity", "alternating signs",
                             "outlier in the last value", "subnormal values"}) {
        EXPECT_EQ(kinds.count(kind), 1u) << kind;
    }
    EXPECT_EQ(kinds.count("deviation 1e25"), problem_.dtype == NF_F16 ? 0u : 1u);
    EXPECT_EQ(kinds.count("residual cancels x"), problem_.residual == NF_NONE ? 0u : 1u);
}

std::string name_of_case(const testing::TestParamInfo<TestRowsTest::ParamType> &info) {
    const auto &[dtype, residual, hidden] = info.param;
    return field_text(dtype) + "_" + field_text(residual) + "_" + std::to_string(hidden);
}

INSTANTIATE_TEST_SUITE_P(TypesAndHidden, TestRowsTest,
                         testing::Combine(testing::Values(NF_F32, NF_F16, NF_BF16),
                                          testing::Values(NF_NONE, NF_F32, NF_F16, NF_BF16),
                                          testing::Values(1, 2, 7, 1000)),
                         name_of_case);

TEST(TestRows, ResidualThatCancelsLeavesLittle) {
    NormProblem problem = default_problem(NF_RMS_NORM, 100);
    problem.residual = NF_F32;
    for (const TestRow &row : test_rows(problem, 1)) {
        if (row.kind == "residual cancels x") {
            for (size_t i = 0; i < row.x.size(); i++) {
                EXPECT_LT(std::fabs(row.x[i] + row.residual[i]), 0.01);
                EXPECT_LT(std::fabs(row.x[i]), 1000);
            }
        }
    }
}

}  // namespace
}  // namespace normforge
