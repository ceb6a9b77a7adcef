// What holds for gradients whatever the right values are.

#include <gtest/gtest.h>

#include <array>

#include "tests/kernel_test.h"

namespace normforge {
namespace {

constexpr int64_t kRows = 5;
constexpr int64_t kHidden = 301;

constexpr double kRounding = 0x1p-24;
// Of a sum over a row relative to the sum of its terms' magnitudes, in kRounding: a lane's values and the rounding
// of each term (docs/numerics.md).
constexpr double kSumRoundings = 128 + 2;

class GradientProperties : public KernelTest<std::string> {
protected:
    NormProblem problem() const {
        return parse_problem(parameter() +
                             ",pass=backward,saved_statistics=yes,hidden=" + std::to_string(kHidden));
    }

    // Both passes, without an epsilon. No gradient depends on the bias.
    OperandValues gradients(const NormProblem &of_problem, OperandValues values) {
        of(values, OperandId::epsilon) = {0};
        of(values, OperandId::bias).assign(kHidden, 0.0f);
        return run_backward(of_problem, values);
    }
};

// Products and sums scale by a power of two with every digit.
TEST_P(GradientProperties, AreLinearInTheGivenGradient) {
    const OperandValues values = ordinary_values(problem(), kRows);
    const OperandValues single = gradients(problem(), values);
    OperandValues scaled = values;
    for (float &dy : of(scaled, OperandId::dy)) {
        dy *= 32;
    }
    const OperandValues by_scaled = gradients(problem(), scaled);
    for (OperandId id : {OperandId::dx, OperandId::dweight, OperandId::dbias}) {
        std::vector<float> expected = of(single, id);
        for (float &value : expected) {
            value *= 32;
        }
        EXPECT_EQ(of(by_scaled, id), expected) << operand(id).name;
    }
}

// Terms of 0 round nothing.
TEST_P(GradientProperties, OfOneRowAreTheSumsWhereOthersHaveNone) {
    OperandValues values = ordinary_values(problem(), kRows);
    std::vector<float> &dy = of(values, OperandId::dy);
    std::fill(dy.begin(), dy.end() - kHidden, 0.0f);
    const OperandValues all = gradients(problem(), values);
    EXPECT_EQ(std::count(of(all, OperandId::dx).begin(), of(all, OperandId::dx).end() - kHidden, 0.0f),
              (kRows - 1) * kHidden);
    for (OperandId id : {OperandId::x, OperandId::dy}) {
        of(values, id).erase(of(values, id).begin(), of(values, id).end() - kHidden);
    }
    const OperandValues alone = gradients(problem(), values);
    for (OperandId id : {OperandId::dweight, OperandId::dbias}) {
        EXPECT_EQ(of(all, id), of(alone, id)) << operand(id).name;
    }
    if (problem().bias != NF_NONE) {
        EXPECT_EQ(of(all, OperandId::dbias), of(values, OperandId::dy));
    }
    if (problem().op == NF_RMS_NORM) {
        // Of ones, the weight's gradient is what the weight is multiplied by, which forward finds likewise.
        of(values, OperandId::dy).assign(kHidden, 1.0f);
        NormProblem forward = problem();
        forward.pass = NF_FORWARD;
        forward.weight = NF_NONE;
        of(values, OperandId::epsilon) = {0};
        EXPECT_EQ(of(gradients(problem(), values), OperandId::dweight), of(run(forward, values), OperandId::y));
    }
}

// Without an epsilon y does not change with a row's scale, and layer_norm's not with its mean: the gradient has no
// part along the row, nor along ones.
TEST_P(GradientProperties, HaveNoPartAlongWhatDoesNotMatter) {
    NormProblem f32 = problem();
    f32.dtype = f32.output = NF_F32;
    OperandValues values = ordinary_values(f32, kRows);
    for (size_t index = 0; index < of(values, OperandId::dy).size(); index++) {
        of(values, OperandId::dy)[index] += of(values, OperandId::x)[index];  // a part that is to be taken off
    }
    const std::vector<float> dx = of(gradients(f32, values), OperandId::dx);
    for (int64_t row = 0; row < kRows; row++) {
        const float *x = of(values, OperandId::x).data() + row * kHidden;
        const float *dy = of(values, OperandId::dy).data() + row * kHidden;
        double mean = 0;
        for (int64_t i = 0; i < kHidden && f32.op == NF_LAYER_NORM; i++) {
            mean += x[i] / static_cast<double>(kHidden);
        }
        double mean_square = 0;
        for (int64_t i = 0; i < kHidden; i++) {
            mean_square += (x[i] - mean) * (x[i] - mean) / static_cast<double>(kHidden);
        }
        // Magnitudes of the terms of the row's two sums, divided by its length.
        double gradients = 0;
        double projections = 0;
        const auto normalised = [&](int64_t i) { return (x[i] - mean) / std::sqrt(mean_square); };
        const auto weighted = [&](int64_t i) {
            return std::fabs(dy[i] * static_cast<double>(of(values, OperandId::weight)[i]));
        };
        for (int64_t i = 0; i < kHidden; i++) {
            gradients += weighted(i) / static_cast<double>(kHidden);
            projections += std::fabs(weighted(i) * normalised(i)) / static_cast<double>(kHidden);
        }
        double along_row = 0;
        double along_ones = 0;
        double row_rounding = 0;
        double ones_rounding = 0;
        for (int64_t i = 0; i < kHidden; i++) {
            const double reach = std::fabs(normalised(i));
            along_row += dx[row * kHidden + i] * (x[i] - mean);
            along_ones += dx[row * kHidden + i];
            // dx * sqrt(mean square) is weighted - gradients - normalised * projections: both sums' errors, and
            // less than eight roundings of each of its terms.
            const double rounding =
                kRounding * ((kSumRoundings + 8) * (gradients + reach * projections) + 8 * weighted(i));
            row_rounding += rounding * reach;
            ones_rounding += rounding / std::sqrt(mean_square);
        }
        EXPECT_LE(std::fabs(along_row), row_rounding) << "row " << row;
        if (f32.op == NF_LAYER_NORM) {
            EXPECT_LE(std::fabs(along_ones), ones_rounding) << "row " << row;
        }
    }
}

std::string name_of(const testing::TestParamInfo<GradientProperties::ParamType> &test) {
    return identifier(std::get<1>(test.param)) + "_" + std::get<0>(test.param).name;
}

INSTANTIATE_TEST_SUITE_P(Host, GradientProperties,
                         testing::Combine(testing::Values(kMachines[0]),
                                          testing::Values("op=layer_norm,dtype=f32", "op=layer_norm,dtype=bf16",
                                                          "op=rms_norm,dtype=f32", "op=rms_norm,dtype=bf16")),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Others, GradientProperties,
                         testing::Combine(testing::Values(kMachines[1], kMachines[2]),
                                          testing::Values("op=layer_norm,dtype=f32", "op=rms_norm,dtype=bf16")),
                         name_of);

}  // namespace
}  // namespace normforge
