#include <algorithm>
#include <cmath>
#include <complex>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <tuple>
#include <vector>

#include "tests/reference_call.h"

namespace normforge {
namespace {

using Numbers = std::vector<double>;
using Complex = std::complex<double>;

constexpr int64_t kRows = 3;
constexpr int64_t kHidden = 4;

// The sum of dy * y + dsum * h as a formula of its own, in numbers that carry a derivative.
struct Loss {
    NormProblem problem;
    double epsilon;
    std::vector<Complex> h, weight, bias;
    Numbers dy, dsum;

    Complex value() const {
        Complex sum = 0;
        for (int64_t row = 0; row < kRows; row++) {
            Complex mean = 0;
            for (int64_t i = 0; i < kHidden && problem.op == NF_LAYER_NORM; i++) {
                mean += h[row * kHidden + i] / static_cast<double>(kHidden);
            }
            Complex variance = 0;
            for (int64_t i = 0; i < kHidden; i++) {
                const Complex distance = h[row * kHidden + i] - mean;
                variance += distance * distance / static_cast<double>(kHidden);
            }
            const Complex divisor = problem.epsilon_place == NF_IN_ROOT ? std::sqrt(variance + epsilon)
                                                                        : std::sqrt(variance) + epsilon;
            for (int64_t i = 0; i < kHidden; i++) {
                const int64_t place = row * kHidden + i;
                const double offset = problem.weight_offset;
                const Complex y = (h[place] - mean) / divisor * (weight[i] + offset) + bias[i];
                sum += dy[place] * y + dsum[place] * h[place];
            }
        }
        return sum;
    }

    // With a step in the imaginary direction nothing cancels: the derivative is exact to the last digits.
    Numbers derivatives(std::vector<Complex> Loss::*inputs) const {
        constexpr double step = 1e-30;
        Numbers derivatives;
        for (size_t index = 0; index < (this->*inputs).size(); index++) {
            Loss moved = *this;
            (moved.*inputs)[index] += Complex(0, step);
            derivatives.push_back(moved.value().imag() / step);
        }
        return derivatives;
    }
};

void expect_near(const Numbers &values, const Numbers &expected, double tolerance) {
    ASSERT_EQ(values.size(), expected.size());
    for (size_t index = 0; index < values.size(); index++) {
        EXPECT_NEAR(values[index], expected[index], tolerance) << "at " << index;
    }
}

// Op, place of epsilon, offset of the weight, and the fields of a residual.
using GradientCase = std::tuple<std::string, std::string, std::string, std::string>;

std::string backward_problem(const GradientCase &parameters) {
    const auto &[op, epsilon_place, weight_offset, residual] = parameters;
    return "pass=backward,dtype=f32,bias=f32,saved_statistics=yes,hidden=4,op=" + op +
           ",epsilon_place=" + epsilon_place + ",weight_offset=" + weight_offset + residual;
}

class EachGradient : public testing::TestWithParam<GradientCase> {};

// Each row's deviation is 5, so that with these epsilons the saved rstd, 1 / 8, is exact.
TEST_P(EachGradient, IsTheDerivative) {
    ReferenceCall call = {.problem = backward_problem(GetParam()),
                          .rows = kRows,
                          .weight = {0.5, -2, 1.25, 3},
                          .rstd = {0.125, 0.125, 0.125},
                          .dy = {1, -0.5, 0.25, 2, 3, 0.75, -1, 0.125, -2, 1.5, 0.375, 4}};
    const NormProblem problem = parse_problem(call.problem);
    const Numbers h = problem.op == NF_LAYER_NORM ? Numbers{10, 4, 2, -4, -1, -9, 5, -3, -1, 7, -7, 1}
                                                  : Numbers{7, 1, 1, -7, 1, 7, -7, 1, -1, -7, -7, -1};
    if (problem.sum != NF_NONE) {
        call.sum = h;
        call.dsum = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    } else if (problem.residual != NF_NONE) {
        call.residual = Numbers(h.size(), 0.25);
        std::ranges::transform(h, std::back_inserter(call.x), [](double value) { return value - 0.25; });
    } else {
        call.x = h;
    }

    const Loss loss = {.problem = problem,
                       .epsilon = problem.epsilon_place == NF_IN_ROOT ? 39.0 : 3.0,
                       .h = {h.begin(), h.end()},
                       .weight = {call.weight.begin(), call.weight.end()},
                       .bias = std::vector<Complex>(kHidden),
                       .dy = call.dy,
                       .dsum = call.dsum.empty() ? Numbers(h.size()) : call.dsum};
    const ReferenceNorm reference = evaluate(call);
    EXPECT_EQ(reference.h, h);
    EXPECT_EQ(reference.rstd, call.rstd);
    expect_near(reference.dx, loss.derivatives(&Loss::h), 1e-14);
    expect_near(reference.dweight, loss.derivatives(&Loss::weight), 1e-14);
    expect_near(reference.dbias, loss.derivatives(&Loss::bias), 1e-14);
    EXPECT_TRUE(reference.y.empty());
    EXPECT_TRUE(reference.scales.empty());
}

INSTANTIATE_TEST_SUITE_P(All, EachGradient,
                         testing::Combine(testing::Values("layer_norm", "rms_norm"),
                                          testing::Values("in_root", "on_deviation"), testing::Values("0", "1"),
                                          testing::Values("", ",residual=f32", ",residual=f32,sum=f32")),
                         [](const auto &test) {
                             return symbol_name(parse_problem(backward_problem(test.param)));
                         });

// The mean comes from h; nothing else of the row is found anew.
TEST(Backward, TakesTheSavedRstd) {
    const ReferenceNorm reference =
        evaluate({.problem = "op=layer_norm,pass=backward,dtype=f32,weight=none,saved_statistics=yes,hidden=2",
                  .x = {101, 103},
                  .rstd = {4},
                  .dy = {1, 2}});
    EXPECT_EQ(reference.mean, Numbers{102});
    EXPECT_EQ(reference.normalised, (Numbers{-4, 4}));
    EXPECT_EQ(reference.dx, (Numbers{4 * (-0.5 + 4 * 2), 4 * (0.5 - 4 * 2)}));
    EXPECT_EQ(reference.dbias, (Numbers{1, 2}));
    EXPECT_TRUE(reference.dweight.empty());
}

TEST(Backward, RowsWithoutDeviationHaveNoGradientOfIt) {
    const std::string fields =
        "pass=backward,dtype=f32,saved_statistics=yes,epsilon_place=on_deviation,hidden=2,op=";
    ReferenceCall call = {.x = {5, 5}, .weight = {1, 2}, .rstd = {4}, .dy = {1, 1}};
    call.problem = fields + "layer_norm";
    EXPECT_EQ(evaluate(call).dx, (Numbers{4 * -0.5, 4 * 0.5}));
    call.problem = fields + "rms_norm";
    call.x = {0, 0};
    EXPECT_EQ(evaluate(call).dx, (Numbers{4, 8}));
    EXPECT_EQ(evaluate(call).dweight, (Numbers{0, 0}));
}

// Gradients pass through a rounding as if it were none, but what the weight was multiplied by is the rounded
// value.
TEST(Backward, WeightGradientIsOfTheRoundedValues) {
    ReferenceCall call = {.problem = "op=rms_norm,pass=backward,dtype=bf16,saved_statistics=yes,hidden=1",
                          .x = {3},
                          .weight = {2},
                          .rstd = {1.0f / 3},
                          .dy = {5}};
    const ReferenceNorm exact = evaluate(call);
    EXPECT_EQ(exact.dweight, Numbers{5 * 3.0 * (1.0f / 3)});
    call.problem += ",normalised=bf16";
    const ReferenceNorm rounded = evaluate(call);
    EXPECT_EQ(rounded.dweight, Numbers{5});
    EXPECT_EQ(rounded.dx, exact.dx);
}

TEST(Backward, StatisticsOfARoundedSumHaveTheRoundedSum) {
    ReferenceCall call = {.problem = "op=rms_norm,pass=backward,dtype=bf16,saved_statistics=yes,residual=bf16,"
                                     "statistics=bf16,weight=none,hidden=2",
                          .x = {1, 1},
                          .residual = {0x1p-9, 0x1.8p-8},
                          .rstd = {1},
                          .dy = {0, 0}};
    EXPECT_EQ(evaluate(call).h, (Numbers{1, 1 + 0x1p-7}));
}

// Both products are over the last axis alone: 24 values as 6 rows of 4.
TEST(Backward, SumsOverAllButTheLastAxis) {
    ReferenceCall call = {
        .problem = "op=layer_norm,pass=backward,dtype=f32,saved_statistics=yes,hidden=4",
        .rows = 3,
        .groups = 2,
        .weight = Numbers(4, 1),
        .rstd = Numbers(6, static_cast<float>(1 / std::sqrt(1.25 + 1e-5))),
        .dy = Numbers(24, 1),
    };
    for (int value = 0; value < 24; value++) {
        call.x.push_back(value);
    }
    const ReferenceNorm reference = evaluate(call);
    expect_near(reference.dx, Numbers(24, 0), 1e-15);
    // 6e-8 is the rounding of rstd.
    expect_near(reference.dweight, {-8.049813, -2.683271, 2.683271, 8.049813}, 1e-6);
    EXPECT_EQ(reference.dbias, Numbers(4, 6));
}

// Sums that stick or stray where they are kept in the type of the operand.
TEST(Backward, SumsOverManyRowsAreExact) {
    ReferenceCall call = {.problem = "op=layer_norm,pass=backward,dtype=bf16,saved_statistics=yes,hidden=4",
                          .rows = 8192,
                          .weight = Numbers(4, 1),
                          .rstd = Numbers(8192, static_cast<float>(1 / std::sqrt(1 + 1e-5))),
                          .dy = Numbers(4 * 8192, 1)};
    for (int64_t row = 0; row < call.rows; row++) {
        call.x.insert(call.x.end(), {1, -1, 1, -1});
    }
    const ReferenceNorm reference = evaluate(call);
    EXPECT_EQ(reference.dbias, Numbers(4, 8192));
    expect_near(reference.dweight, {8191.9590, -8191.9590, 8191.9590, -8191.9590}, 8192 * 6e-8);
}

TEST(Backward, RowOfZerosHasOnlyABiasGradient) {
    const ReferenceNorm reference =
        evaluate({.problem = "op=layer_norm,pass=backward,dtype=f32,saved_statistics=yes,hidden=4",
                  .x = Numbers(4, 0),
                  .weight = Numbers(4, 1),
                  .rstd = {static_cast<float>(1 / std::sqrt(1e-5))},
                  .dy = Numbers(4, -1)});
    EXPECT_EQ(reference.dweight, Numbers(4, 0));
    EXPECT_EQ(reference.dbias, Numbers(4, -1));
    EXPECT_EQ(reference.dx, Numbers(4, 0));
}

}  // namespace
}  // namespace normforge
