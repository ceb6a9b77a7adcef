// Which rows are taken in pairs. That these give the bits of others, schedules_test checks.

#include "schedules/value_pairs.h"

#include <gtest/gtest.h>

#include <string>

#include "schedules/target.h"

namespace normforge {
namespace {

struct Pairs {
    const char *name;
    const char *problem;
    int vector, accumulators, unroll;
    bool summed, written;
};

const Pairs kPairs[] = {
    {"bf16", "op=rms_norm,dtype=bf16,hidden=4096", 16, 4, 4, true, true},
    {"f16", "op=rms_norm,dtype=f16,hidden=4096", 16, 4, 4, false, false},
    {"f32", "op=layer_norm,dtype=f32,hidden=4096", 16, 4, 4, false, false},
    {"one_accumulator", "op=layer_norm,dtype=bf16,hidden=4096", 16, 1, 4, false, true},
    {"one_vector_a_step", "op=layer_norm,dtype=bf16,hidden=4096", 16, 4, 1, true, false},
    {"whole_pairs", "op=layer_norm,dtype=bf16,hidden=96", 16, 2, 2, true, true},
    {"half_a_pair_left", "op=layer_norm,dtype=bf16,hidden=80", 16, 2, 2, false, false},
    {"f32_weight", "op=rms_norm,dtype=bf16,weight=f32,hidden=4096", 16, 4, 4, true, false},
    {"f32_output", "op=rms_norm,dtype=bf16,output=f32,hidden=4096", 16, 4, 4, true, false},
    {"f32_residual", "op=rms_norm,dtype=bf16,residual=f32,sum=bf16,hidden=4096", 16, 4, 4, false, false},
    {"bf16_residual", "op=rms_norm,dtype=bf16,residual=bf16,sum=bf16,hidden=4096", 16, 4, 4, true, true},
    // The largest magnitude is of values that the weight has been applied to.
    {"scaled_f32_weight", "op=rms_norm,dtype=bf16,weight=f32,output=i8,scale=per_row,hidden=4096", 16, 4, 4, false,
     false},
    {"scaled", "op=rms_norm,dtype=bf16,output=i8,scale=per_row,hidden=4096", 16, 4, 4, true, false},
    {"backward", "op=layer_norm,pass=backward,dtype=bf16,saved_statistics=yes,hidden=4096", 16, 4, 4, true, false},
    {"backward_f32_weight", "op=layer_norm,pass=backward,dtype=bf16,weight=f32,saved_statistics=yes,hidden=4096",
     16, 4, 4, false, false},
};

class RowsInPairs : public testing::TestWithParam<Pairs> {};

TEST_P(RowsInPairs, AreOfBf16AloneAndNotOnArm) {
    const NormProblem problem = parse_problem(GetParam().problem);
    Knobs knobs{};
    knobs.vector = GetParam().vector;
    knobs.accumulators = GetParam().accumulators;
    knobs.unroll = GetParam().unroll;
    const ValuePairs pairs = value_pairs(problem, knobs, kernel_target("x86-64-linux"));
    EXPECT_EQ(pairs.summed, GetParam().summed);
    EXPECT_EQ(pairs.written, GetParam().written);
    const ValuePairs on_arm = value_pairs(problem, knobs, kernel_target("arm-64-linux"));
    EXPECT_FALSE(on_arm.summed || on_arm.written);
}

INSTANTIATE_TEST_SUITE_P(All, RowsInPairs, testing::ValuesIn(kPairs),
                         [](const auto &test) { return std::string(test.param.name); });

}  // namespace
}  // namespace normforge
