// Portable kernels give the same bits from every set of x86 instructions and from every schedule. What the gate's
// rows come to in all is compared, for each problem, with that of the first kernel.

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "tests/kernel_test.h"

namespace normforge {
namespace {

const std::vector<Machine> kAllMachines = {kMachines[0], kMachines[2], kMachines[1], kBaseline};

constexpr const char *kProblems[] = {
    "op=layer_norm,dtype=f32",
    "op=rms_norm,dtype=bf16,residual=bf16,sum=bf16,normalised=bf16",
    "op=layer_norm,dtype=f16,output=bf16,weight=f32,saved_statistics=yes,epsilon_place=on_deviation",
    "op=rms_norm,dtype=bf16,output=f8e4m3,scale=per_row,unquantised=bf16",
    "op=layer_norm,dtype=f32,output=i8,scale=static",
    "op=rms_norm,dtype=f32,pass=backward,saved_statistics=yes",
    "op=layer_norm,dtype=bf16,pass=backward,saved_statistics=yes,epsilon_place=on_deviation",
};

// The heuristic's schedule; and for this machine those that differ most from it, the narrowest and the widest
// vectors.
std::vector<Knobs> some_schedules(const NormProblem &problem, const Machine &machine) {
    const Halide::Target target = kernel_target(machine.target);
    const std::vector<Knobs> all = enumerate(problem, target);
    if (std::string(machine.name) != "host") {
        return {heuristic(problem, target)};
    }
    return {heuristic(problem, target), all.front(), all[all.size() / 2], all.back()};
}

class Portable : public testing::TestWithParam<std::tuple<const char *, int64_t>> {};

NormProblem portable_problem(const Portable::ParamType &param) {
    return parse_problem(std::string(std::get<0>(param)) +
                         ",portable=yes,hidden=" + std::to_string(std::get<1>(param)));
}

INSTANTIATE_TEST_SUITE_P(All, Portable,
                         testing::Combine(testing::ValuesIn(kProblems), testing::Values<int64_t>(7, 95, 4099)),
                         [](const auto &test) { return symbol_name(portable_problem(test.param)); });

TEST_P(Portable, BitsAreThoseOfEveryOtherKernel) {
    const NormProblem problem = portable_problem(GetParam());
    const AccuracyGate gate(problem);
    std::string first;
    for (const Machine &machine : kAllMachines) {
        const Halide::Target target = kernel_target(machine.target);
        if (!can_run(target)) {
            continue;
        }
        for (const Knobs &knobs : some_schedules(problem, machine)) {
            const AccuracyGate::Result result = check_kernel(gate, {problem, knobs, target});
            ASSERT_EQ(result.failure, "") << target_name(target) << " " << to_text(knobs);
            first = first.empty() ? result.output_digest : first;
            EXPECT_EQ(result.output_digest, first) << target_name(target) << " " << to_text(knobs);
        }
    }
}

// Products are fused where there are such instructions, unless the problem is portable.
TEST(NotPortable, BitsDifferBetweenInstructionSets) {
    const Halide::Target avx2 = kernel_target(kMachines[2].target);
    const Halide::Target sse41 = kernel_target(kMachines[1].target);
    if (!can_run(avx2)) {
        GTEST_SKIP() << "this CPU cannot run " << target_name(avx2);
    }
    const NormProblem problem = default_problem(NF_LAYER_NORM, 4099);
    const AccuracyGate gate(problem);
    std::vector<std::string> digests;
    for (const Halide::Target &target : {avx2, sse41}) {
        // Of the same lanes.
        digests.push_back(check_kernel(gate, {problem, heuristic(problem, sse41), target}).output_digest);
    }
    EXPECT_NE(digests[0], digests[1]);
}

}  // namespace
}  // namespace normforge
