#include <cfloat>
#include <cmath>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "tests/reference_call.h"

namespace normforge {
namespace {

constexpr double kInfinity = HUGE_VAL;

using Numbers = std::vector<double>;

// One row of zeros, and one whose largest magnitude is 4.
ReferenceCall two_rows(const std::string &output) {
    return {.problem = "op=rms_norm,dtype=f32,weight=none,scale=per_row,hidden=8,output=" + output,
            .rows = 2,
            .epsilon = 1e-6f,
            .x = {0, 0, 0, 0, 0, 0, 0, 0, 1, -2, 3, -4, .5, 0, 2.5, -3.5}};
}

// y / scale, rounded to the output's type.
Numbers quantised(const ReferenceCall &call) {
    const NormProblem problem = parse_problem(call.problem);
    const ReferenceNorm reference = evaluate(call);
    Numbers values;
    for (double y : reference.y) {
        const double value = problem.unquantised == NF_NONE ? y : round_to(problem.unquantised, y);
        values.push_back(round_to(problem.output, value / reference.scales.at(values.size() / problem.hidden)));
    }
    return values;
}

TEST(Scales, MapALargestMagnitudeToTheTypesLargestValue) {
    const Numbers f8_scales = evaluate(two_rows("f8e4m3")).scales;
    ASSERT_EQ(f8_scales.size(), 2u);
    EXPECT_NEAR(f8_scales[1], 0.003616926, 1e-9);
    EXPECT_EQ(quantised(two_rows("f8e4m3")),
              (Numbers{0, 0, 0, 0, 0, 0, 0, 0, 112, -224, 320, -448, 56, 0, 288, -384}));

    const Numbers i8_scales = evaluate(two_rows("i8")).scales;
    EXPECT_NEAR(i8_scales.at(1), 1.6203829 / 127, 1e-9);
    EXPECT_EQ(quantised(two_rows("i8")), (Numbers{0, 0, 0, 0, 0, 0, 0, 0, 32, -64, 95, -127, 16, 0, 79, -111}));
}

TEST(Scales, AreNeverZero) {
    EXPECT_EQ(evaluate(two_rows("i8")).scales[0], FLT_MIN);
    const ReferenceCall tiny_values = {
        .problem = "op=rms_norm,dtype=f32,output=f8e4m3,scale=per_row,hidden=1", .x = {1}, .weight = {0x1p-130}};
    EXPECT_EQ(evaluate(tiny_values).scales, Numbers{FLT_MIN});
}

TEST(Scales, AreOneWhereTheLargestValueIsNone) {
    const ReferenceCall call = {.problem =
                                    "op=rms_norm,dtype=f32,weight=none,bias=f32,output=i8,scale=per_row,hidden=2",
                                .rows = 3,
                                .epsilon = 1,
                                .x = {NAN, 1, kInfinity, 1, 1, -1},
                                .bias = {0, 0}};
    const Numbers scales = evaluate(call).scales;
    ASSERT_EQ(scales.size(), 3u);
    EXPECT_EQ(scales[0], 1);
    EXPECT_EQ(scales[1], 1);
    EXPECT_NEAR(scales[2], std::sqrt(0.5) / 127, 1e-17);
    ReferenceCall infinite = call;
    infinite.bias = {0, -kInfinity};
    EXPECT_EQ(evaluate(infinite).scales, (Numbers{1, 1, 1}));
}

TEST(Scales, AreTheGivenOneOrOne) {
    ReferenceCall call = {.rows = 2, .scale = 0.375f, .x = {1, 2, 3, 4}};
    call.problem = "op=rms_norm,dtype=f32,weight=none,output=i8,scale=static,hidden=2";
    EXPECT_EQ(evaluate(call).scales, (Numbers{0.375, 0.375}));
    call.problem = "op=rms_norm,dtype=f32,weight=none,hidden=2";
    EXPECT_EQ(evaluate(call).scales, (Numbers{1, 1}));
}

TEST(Scales, AreOfTheRoundedValuesWhereAsked) {
    ReferenceCall call = {.problem = "op=rms_norm,dtype=f32,output=i8,scale=per_row,hidden=1,unquantised=bf16",
                          .x = {3},
                          .weight = {-1.0655}};
    EXPECT_EQ(evaluate(call).scales, Numbers{1.0625 / 127});
    // f16 has no such value.
    call.problem = "op=rms_norm,dtype=f32,output=i8,scale=per_row,hidden=1,unquantised=f16";
    call.weight = {70000};
    EXPECT_EQ(evaluate(call).scales, Numbers{1});
}

TEST(Quantised, ValuesMayBeRoundedFirst) {
    const std::string fields = "op=rms_norm,dtype=f32,weight=none,output=f8e4m3,scale=static,hidden=2";
    ReferenceCall call = {.problem = fields, .scale = 0x1p-7f, .x = {1.0655, 0.929897666}};
    EXPECT_EQ(quantised(call), (Numbers{144, 120}));
    call.problem = fields + ",unquantised=bf16";
    EXPECT_EQ(quantised(call), (Numbers{128, 120}));
}

}  // namespace
}  // namespace normforge
