// Every field of a problem, alone and with others: the heuristic's kernels pass the accuracy gate, on every set of
// x86 instructions that this CPU has.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "tests/every_problem.h"
#include "tests/kernel_test.h"

namespace normforge {
namespace {

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
