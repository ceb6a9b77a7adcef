#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "autotune/measure/statistics_range.h"
#include "runtime/float_types.h"
#include "tests/ranged_call.h"

// Ranges of single rows, where they can be told without an arithmetic.

namespace normforge {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Distances from the mean are exactly zero whatever the schedule, so the result is the bias.
TEST(ValueRanges, OfEqualValuesAreTheBias) {
    for (int64_t hidden : {1, 2, 7, 100, 4095}) {
        for (nf_dtype type : {NF_F32, NF_F16, NF_BF16}) {
            const NormProblem of = default_problem(NF_LAYER_NORM, hidden, type);
            for (float value : {0.0f, 14.1f, -1e4f, 3e-5f}) {
                const std::vector<TestRow> rows = plain_row(std::vector<float>(hidden, value));
                const OperandValues values = read_values(of, rows, 1e-5f, 11);
                const std::vector<float> &bias = values[static_cast<size_t>(OperandId::bias)];
                const RangedCall call(of, rows, values);
                for (int64_t i = 0; i < hidden; i++) {
                    EXPECT_EQ(call.ranges(OperandId::y)[i].low, bias[i]) << value << ", " << hidden;
                    EXPECT_EQ(call.ranges(OperandId::y)[i].high, bias[i]) << value << ", " << hidden;
                }
            }
        }
    }
}

TEST(ValueRanges, OfTheMirroredRowAreMirrored) {
    std::vector<float> x = normal_values(100, 0, 1, 5);
    for (float &value : x) {
        value *= value > 0 ? 3.0f : 1.0f;  // one side reaches further than the other
    }
    std::vector<float> mirrored(x.size());
    std::ranges::transform(x, mirrored.begin(), std::negate());
    for (nf_op op : {NF_LAYER_NORM, NF_RMS_NORM}) {
        NormProblem of = default_problem(op, 100);
        of.weight = of.bias = NF_NONE;
        const RangedCall call(of, plain_row(x)), other(of, plain_row(mirrored));
        for (size_t i = 0; i < x.size(); i++) {
            EXPECT_EQ(call.ranges(OperandId::y)[i].low, -other.ranges(OperandId::y)[i].high);
            EXPECT_EQ(call.ranges(OperandId::y)[i].high, -other.ranges(OperandId::y)[i].low);
        }
    }
}

// The f32 mean that two passes take for the pivot is then far from the values, in units of their spread.
TEST(StatisticsRange, GrowsWithTheMean) {
    const NormProblem of = default_problem(NF_LAYER_NORM, 100);
    std::vector<double> h(100), moved(100);
    for (size_t i = 0; i < h.size(); i++) {
        h[i] = static_cast<double>(i % 2);
        moved[i] = h[i] + 0x1p20;
    }
    const StatisticsRange near = statistics_range(of, h, 0.5, 0);
    const StatisticsRange far = statistics_range(of, moved, 0x1p20 + 0.5, 0);
    EXPECT_GT(far.rstd_high, near.rstd_high);
    EXPECT_GT(far.mean_error, 2 * near.mean_error);
    EXPECT_LT(near.rstd_low, 2);
    EXPECT_GT(near.rstd_high, 2);
}

TEST(ValueRanges, HaveNoEndWhereTheVarianceMayBeLost) {
    std::vector<float> x(2047, 0x1p23f);  // which is the mean
    x[0] -= 1;
    x[98] += 1;
    const RangedCall without(default_problem(NF_LAYER_NORM, 2047), plain_row(x), 0);
    EXPECT_EQ(without.ranges(OperandId::y)[0].low, -kInfinity);
    EXPECT_LT(without.ranges(OperandId::y)[0].high, 0);
    const RangedCall with(default_problem(NF_LAYER_NORM, 2047), plain_row(x));
    EXPECT_GT(with.ranges(OperandId::y)[0].low, -kInfinity);
}

// Rows that f32's squares cannot hold have ranges as narrow as others.
TEST(ValueRanges, OfTinyAndHugeRowsAreNarrow) {
    for (nf_op op : {NF_LAYER_NORM, NF_RMS_NORM}) {
        for (nf_dtype type : {NF_F32, NF_F16, NF_BF16}) {
            NormProblem of = default_problem(op, 100, type);
            of.output = NF_F32;
            of.weight = of.bias = NF_NONE;
            const std::vector<TestRow> rows = rows_of(of, true);
            const RangedCall call(of, rows, 0);
            ASSERT_GE(rows.size(), 6u);
            for (size_t i = 0; i < call.ranges(OperandId::y).size(); i++) {
                const ValueRange &range = call.ranges(OperandId::y)[i];
                EXPECT_NEAR(range.low, range.high, 1e-4) << rows[i / 100].kind;
            }
        }
    }
}

TEST(ValueRanges, InfinityMakesARowOfRmsNormTheBias) {
    std::vector<float> x = normal_values(7, 0, 1, 5);
    x[2] = kInfinity;
    const NormProblem of = problem_with("op=rms_norm,dtype=f32,bias=f32,saved_statistics=yes", 7);
    const OperandValues values = read_values(of, plain_row(x), 1e-5f, 11);
    const RangedCall call(of, plain_row(x), values);
    EXPECT_TRUE(call.ranges(OperandId::y)[2].contains(kNan));
    EXPECT_FALSE(call.ranges(OperandId::y)[2].contains(0));
    for (size_t i : {0, 1, 3, 6}) {
        EXPECT_EQ(call.ranges(OperandId::y)[i].low, values[static_cast<size_t>(OperandId::bias)][i]);
        EXPECT_EQ(call.ranges(OperandId::y)[i].high, values[static_cast<size_t>(OperandId::bias)][i]);
    }
    EXPECT_EQ(call.ranges(OperandId::rstd)[0].low, 0);
    EXPECT_EQ(call.ranges(OperandId::rstd)[0].high, 0);
}

TEST(ValueRanges, ScaleIsNeverZeroAndOneWhereValuesAreNotFinite) {
    const NormProblem of = problem_with("op=rms_norm,dtype=f32,output=i8,scale=per_row", 3);
    const auto scale_of = [&](const std::vector<float> &x) {
        return RangedCall(of, plain_row(x)).ranges(OperandId::scales)[0];
    };
    for (const auto &[x, expected] : {std::pair{std::vector<float>{0, 0, 0}, FLT_MIN},
                                      {std::vector<float>{1, kNan, 0}, 1.0f},
                                      {std::vector<float>{1, kInfinity, 0}, 1.0f}}) {
        EXPECT_EQ(scale_of(x).low, expected);
        EXPECT_EQ(scale_of(x).high, expected);
    }
    const ValueRange ordinary = scale_of({1, -2, 3});
    EXPECT_LT(ordinary.low, ordinary.high);
    EXPECT_NEAR(ordinary.low, ordinary.high, 1e-5 * ordinary.high);
}

// Sums that leave f32's range are not those of any formula.
TEST(GradientRanges, SayNothingOfRowsBeyondF32sSums) {
    const NormProblem of = problem_with("op=layer_norm,pass=backward,dtype=f32,saved_statistics=yes", 100);
    for (const TestRow &row : test_rows(of, 1)) {
        const RangedCall call(of, {row});
        const bool beyond = row.kind.starts_with("largest") || row.kind.ends_with("infinity");
        if (row.kind != "after infinity" && row.kind != "large values, one sign" && beyond) {
            EXPECT_EQ(call.ranges(OperandId::dx)[0].is_anything(), row.finite) << row.kind;
        } else if (row.finite && row.kind != "large values, one sign") {
            EXPECT_FALSE(call.ranges(OperandId::dx)[0].is_anything()) << row.kind;
            EXPECT_FALSE(call.ranges(OperandId::dweight)[0].is_anything()) << row.kind;
        }
    }
}

TEST(ValueRange, ContainsItsEndsAndNoMore) {
    const ValueRange range{1, 0.5, 2};
    EXPECT_TRUE(range.contains(0.5) && range.contains(2));
    EXPECT_FALSE(range.contains(0.49f) || range.contains(2.01f) || range.contains(kNan));
    EXPECT_EQ(range.error_ratio(1), 0);
    EXPECT_EQ(range.error_ratio(0.5), 1);
    EXPECT_EQ(range.error_ratio(1.5), 0.5);
    const ValueRange nan{kNan, kNan, kNan};
    EXPECT_TRUE(nan.contains(kNan));
    EXPECT_FALSE(nan.contains(0) || nan.contains(kInfinity));
    const ValueRange any = anything(3);
    EXPECT_TRUE(any.contains(kNan) && any.contains(-kInfinity) && any.contains(0));
    EXPECT_EQ(any.error_ratio(7), 0);
}

TEST(ValueRange, QuantisesByDividingRoundingAndSaturating) {
    const ValueRange i8 = quantised({1.25f, 1.2f, 500}, NF_I8, 0.5f);
    EXPECT_EQ(i8.expected, 2);  // of 2.5, to even
    EXPECT_EQ(i8.low, 2);
    EXPECT_EQ(i8.high, 127);
    EXPECT_EQ(quantised({-500, -500, -500}, NF_I8, 0.5f).low, -128);
    EXPECT_EQ(quantised({kNan, kNan, kNan}, NF_I8, 1).low, 0);
    const ValueRange f8 = quantised({-1000, -1000, 17}, NF_F8E4M3, 1);
    EXPECT_EQ(f8.low, -448);
    EXPECT_EQ(f8.high, 16);  // of 17, to even
    EXPECT_TRUE(std::isnan(quantised({kNan, kNan, kNan}, NF_F8E4M3, 1).low));
}

}  // namespace
}  // namespace normforge
