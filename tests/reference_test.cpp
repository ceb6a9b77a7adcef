#include "runtime/reference.h"

#include <cmath>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "tests/pinned_rows.h"
#include "tests/reference_call.h"

namespace normforge {
namespace {

// One row without weight and bias.
std::vector<double> norm(nf_op op, const std::vector<float> &x, float epsilon) {
    NormProblem problem = default_problem(op, static_cast<int64_t>(x.size()));
    problem.weight = NF_NONE;
    problem.bias = NF_NONE;
    return evaluate({.problem = to_text(problem), .epsilon = epsilon, .x = {x.begin(), x.end()}}).y;
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

TEST(Reference, WithoutDeviationAndEpsilonNothingIsANumber) {
    for (const char *place : {"in_root", "on_deviation"}) {
        const std::string problem = std::string("op=layer_norm,dtype=f32,hidden=2,epsilon_place=") + place;
        for (double y : evaluate({.problem = problem, .x = {5, 5}, .weight = {1, 1}, .bias = {0, 0}}).y) {
            EXPECT_TRUE(std::isnan(y));
        }
    }
}

TEST(Reference, WeightAndBiasAreReadIfTheProblemHasThem) {
    for (double weight : {1, 3}) {
        for (double bias : {0, 20}) {
            NormProblem problem = default_problem(NF_RMS_NORM, 2);
            problem.weight = weight == 1 ? NF_NONE : NF_BF16;
            problem.bias = bias == 0 ? NF_NONE : NF_F16;
            const ReferenceNorm reference = evaluate(
                {.problem = to_text(problem), .x = {-1, 1}, .weight = {weight, weight}, .bias = {bias, bias}});
            EXPECT_EQ(reference.y, (std::vector<double>{bias - weight, bias + weight}));
        }
    }
}

void expect_same(const ReferenceNorm &a, const ReferenceNorm &b) {
    EXPECT_EQ(a.h, b.h);
    EXPECT_EQ(a.mean, b.mean);
    EXPECT_EQ(a.rstd, b.rstd);
    EXPECT_EQ(a.normalised, b.normalised);
    EXPECT_EQ(a.y, b.y);
    EXPECT_EQ(a.scales, b.scales);
    EXPECT_EQ(a.dx, b.dx);
    EXPECT_EQ(a.dweight, b.dweight);
    EXPECT_EQ(a.dbias, b.dbias);
}

class EachProblemWithRows : public testing::TestWithParam<const char *> {};

TEST_P(EachProblemWithRows, FindsThemByTheirStrides) {
    constexpr int64_t rows = 3, groups = 2, hidden = 5;
    const auto some_values = [](int64_t count, int step) {
        std::vector<double> values;
        for (int64_t index = 0; index < count; index++) {
            values.push_back(static_cast<double>(index * step % 29) / 4);
        }
        return values;
    };
    ReferenceCall call = {.problem = GetParam(),
                          .rows = rows,
                          .groups = groups,
                          .epsilon = 1,
                          .x = some_values(rows * groups * hidden, 3),
                          .residual = some_values(rows * groups * hidden, 5),
                          .weight = some_values(hidden, 7),
                          .bias = some_values(hidden, 9),
                          .sum = some_values(rows * groups * hidden, 11),
                          .rstd = some_values(rows * groups, 13),
                          .dy = some_values(rows * groups * hidden, 15),
                          .dsum = some_values(rows * groups * hidden, 17)};
    const ReferenceNorm dense = evaluate(call);
    ASSERT_EQ(dense.h.size(), static_cast<size_t>(rows * groups * hidden));
    for (double value : dense.normalised) {
        ASSERT_FALSE(std::isnan(value));
    }
    for (const RowLayout &layout : {RowLayout{2, false}, RowLayout{0, true}, RowLayout{3, true}}) {
        call.layout = layout;
        expect_same(evaluate(call), dense);
    }
    // The same rows as one group, which may also be counted as none.
    call.layout = {.gap = 4};
    call.rows = rows * groups;
    for (int64_t count : {1, 0}) {
        call.groups = count;
        expect_same(evaluate(call), dense);
    }
}

INSTANTIATE_TEST_SUITE_P(
    All, EachProblemWithRows,
    testing::Values("op=layer_norm,dtype=f16,weight=f32,bias=bf16,residual=bf16,hidden=5",
                    "op=rms_norm,dtype=bf16,output=i8,scale=per_row,hidden=5",
                    "op=layer_norm,pass=backward,dtype=f16,saved_statistics=yes,residual=f32,hidden=5",
                    "op=rms_norm,pass=backward,dtype=bf16,saved_statistics=yes,residual=f32,sum=f32,hidden=5"),
    [](const auto &test) { return symbol_name(parse_problem(test.param)); });

TEST(Reference, NoRowsGiveNothingButZeroGradients) {
    ReferenceCall call = {.problem = "op=layer_norm,pass=backward,dtype=f16,saved_statistics=yes,hidden=2",
                          .rows = 0,
                          .weight = {1, 2}};
    const ReferenceNorm backward = evaluate(call);
    EXPECT_TRUE(backward.dx.empty());
    EXPECT_EQ(backward.dweight, (std::vector<double>{0, 0}));
    EXPECT_EQ(backward.dbias, (std::vector<double>{0, 0}));
    call.problem = "op=layer_norm,dtype=f16,bias=none,hidden=2";
    EXPECT_TRUE(evaluate(call).y.empty());
}

}  // namespace
}  // namespace normforge
