// Every field of a problem, alone and with others: the heuristic's kernels pass the accuracy gate, on every set of
// x86 instructions that this CPU has.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "tests/kernel_test.h"

namespace normforge {
namespace {

// Of any hidden size.
constexpr const char *kForward[] = {
    "op=layer_norm,dtype=f16",
    "op=layer_norm,dtype=bf16",
    "op=rms_norm,dtype=f16",
    "op=rms_norm,dtype=bf16",
    "op=layer_norm,dtype=f32,output=bf16,weight=f16,bias=bf16",
    "op=rms_norm,dtype=bf16,output=f32,weight=f32,bias=f16",
    "op=layer_norm,dtype=f16,output=f32,weight=none,bias=f32",
    "op=rms_norm,dtype=f32,output=f16,weight=none",
    "op=rms_norm,dtype=bf16,weight_offset=1",
    "op=layer_norm,dtype=f32,weight=bf16,weight_offset=1",
    "op=layer_norm,dtype=f32,epsilon_place=on_deviation",
    "op=rms_norm,dtype=f16,epsilon_place=on_deviation",
    "op=rms_norm,dtype=bf16,normalised=bf16",
    "op=rms_norm,dtype=f32,output=f16,normalised=f16,bias=f32",
    "op=layer_norm,dtype=bf16,normalised=f16",
    "op=layer_norm,dtype=f32,residual=f32",
    "op=rms_norm,dtype=bf16,residual=f32,sum=f32",
    "op=rms_norm,dtype=bf16,residual=bf16,sum=bf16,statistics=bf16",
    "op=layer_norm,dtype=f16,residual=f16,sum=f16",
    "op=layer_norm,dtype=bf16,residual=bf16,statistics=bf16",
    "op=rms_norm,dtype=f32,residual=f16,sum=bf16",
    "op=layer_norm,dtype=f32,saved_statistics=yes",
    "op=rms_norm,dtype=bf16,residual=bf16,sum=f32,saved_statistics=yes",
    "op=rms_norm,dtype=f32,output=i8,scale=static",
    "op=layer_norm,dtype=f32,output=i8,scale=per_row",
    "op=rms_norm,dtype=bf16,output=f8e4m3,scale=static,unquantised=bf16",
    "op=rms_norm,dtype=bf16,output=f8e4m3,scale=per_row",
    "op=layer_norm,dtype=f16,output=f8e4m3,scale=per_row,unquantised=f16,saved_statistics=yes",
    "op=rms_norm,dtype=bf16,output=i8,residual=bf16,sum=bf16,scale=per_row,normalised=bf16,unquantised=bf16",
    "op=layer_norm,dtype=f32,portable=yes",
    "op=rms_norm,dtype=bf16,output=f8e4m3,scale=per_row,portable=yes",
};

constexpr const char *kBackward[] = {
    "op=layer_norm,pass=backward,dtype=f32,saved_statistics=yes",
    "op=rms_norm,pass=backward,dtype=f32,saved_statistics=yes",
    "op=layer_norm,pass=backward,dtype=bf16,saved_statistics=yes",
    "op=rms_norm,pass=backward,dtype=f16,saved_statistics=yes,bias=f32",
    "op=layer_norm,pass=backward,dtype=f16,output=f32,weight=bf16,bias=none,saved_statistics=yes",
    "op=rms_norm,pass=backward,dtype=bf16,weight=none,saved_statistics=yes",
    "op=rms_norm,pass=backward,dtype=bf16,weight_offset=1,normalised=bf16,saved_statistics=yes",
    "op=layer_norm,pass=backward,dtype=f32,epsilon_place=on_deviation,saved_statistics=yes",
    "op=rms_norm,pass=backward,dtype=f32,epsilon_place=on_deviation,saved_statistics=yes",
    "op=layer_norm,pass=backward,dtype=f32,residual=bf16,saved_statistics=yes",
    "op=rms_norm,pass=backward,dtype=bf16,residual=f32,sum=f32,saved_statistics=yes",
    "op=layer_norm,pass=backward,dtype=bf16,residual=bf16,sum=bf16,statistics=bf16,saved_statistics=yes",
    "op=layer_norm,pass=backward,dtype=f32,saved_statistics=yes,portable=yes",
};

std::vector<std::string> all_problems() {
    std::vector<std::string> problems(std::begin(kForward), std::end(kForward));
    problems.insert(problems.end(), std::begin(kBackward), std::end(kBackward));
    return problems;
}

class EveryProblem : public testing::TestWithParam<std::tuple<std::string, int64_t, Machine>> {};

TEST_P(EveryProblem, PassesTheGate) {
    const auto &[fields, hidden, machine] = GetParam();
    const NormProblem problem = parse_problem(fields + ",hidden=" + std::to_string(hidden));
    const Halide::Target target = kernel_target(machine.target);
    if (!can_run(target)) {
        GTEST_SKIP() << "this CPU cannot run " << machine.target;
    }
    const AccuracyGate::Result result =
        check_kernel(AccuracyGate(problem), {problem, heuristic(problem, target), target});
    EXPECT_EQ(result.failure, "");
    EXPECT_LE(result.error_ratio, 1);
}

std::string name_of(const testing::TestParamInfo<EveryProblem::ParamType> &test) {
    const auto &[fields, hidden, machine] = test.param;
    return symbol_name(parse_problem(fields + ",hidden=" + std::to_string(hidden))) + "_" + machine.name;
}

// Less than a vector; vectors and a tail; many steps, and chunks with a tail. On the others one value beside a
// vector as well, which is computed without one.
INSTANTIATE_TEST_SUITE_P(Host, EveryProblem,
                         testing::Combine(testing::ValuesIn(all_problems()),
                                          testing::Values<int64_t>(7, 100, 4099), testing::Values(kMachines[0])),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Others, EveryProblem,
                         testing::Combine(testing::ValuesIn(all_problems()), testing::Values<int64_t>(5, 100),
                                          testing::Values(kMachines[2], kMachines[1], kBaseline)),
                         name_of);

}  // namespace
}  // namespace normforge
