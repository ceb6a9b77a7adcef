// The promise of 16-bit outputs: they are the exact values, rounded once. What f32 arithmetic adds to half a unit
// of the output's last place is small beside it.

#include <gtest/gtest.h>

#include "runtime/reference.h"
#include "tests/kernel_test.h"

namespace normforge {
namespace {

// Units of f32's last place, at the largest value of a row, that a kernel may be off by before it rounds: on data
// like these, that is. value_ranges has the worst case of any data, which grows with the row.
constexpr double kF32Units = 4;

class Rounding : public KernelTest<std::string> {};

// Where values are rounded before the weight as well, that rounding is of half a unit of their type's last place,
// and the weight makes it larger or smaller.
TEST_P(Rounding, IsHalfAUnitOfTheOutputsLastPlace) {
    for (int64_t hidden : {64, 100, 4099, 8192}) {
        const NormProblem problem = parse_problem(parameter() + ",hidden=" + std::to_string(hidden));
        const int64_t rows = 32768 / hidden;
        const OperandValues values = ordinary_values(problem, rows);
        const OperandValues written = run(problem, values);
        const std::vector<float> &y = of(written, OperandId::y);

        NormProblem unrounded = problem;
        unrounded.normalised = NF_NONE;
        const CallOperands operands(unrounded, rows, 1, values);
        const ReferenceNorm exact = reference_norm(unrounded, operands.arguments());
        double worst = 0;
        for (int64_t row = 0; row < rows; row++) {
            double largest = 0;
            for (int64_t index = row * hidden; index < (row + 1) * hidden; index++) {
                largest = std::max(largest, std::fabs(exact.y[index]));
            }
            for (int64_t index = row * hidden; index < (row + 1) * hidden; index++) {
                double earlier = kF32Units * last_place(NF_F32, largest);
                if (problem.normalised != NF_NONE) {
                    earlier += std::fabs(of(values, OperandId::weight)[index % hidden]) *
                               last_place(problem.normalised, exact.normalised[index]) / 2;
                }
                // The value that is rounded at last may be that much larger than the exact one.
                const double unit = last_place(problem.output, std::fabs(exact.y[index]) + earlier);
                worst = std::max(worst, (std::fabs(y[index] - exact.y[index]) - earlier) / unit);
            }
        }
        EXPECT_LE(worst, 0.5) << "units of the last place, hidden " << hidden;
    }
}

INSTANTIATE_TEST_SUITE_P(All, Rounding,
                         testing::Combine(testing::ValuesIn(kMachines),
                                          testing::Values("op=layer_norm,dtype=f16", "op=layer_norm,dtype=bf16",
                                                          "op=rms_norm,dtype=f16", "op=rms_norm,dtype=bf16",
                                                          "op=layer_norm,dtype=bf16,normalised=bf16",
                                                          "op=rms_norm,dtype=f16,normalised=f16",
                                                          "op=rms_norm,dtype=bf16,normalised=bf16")),
                         [](const auto &test) {
                             return identifier(std::get<1>(test.param)) + "_" + std::get<0>(test.param).name;
                         });

}  // namespace
}  // namespace normforge
