// The arithmetic of GPU kernels, by their loops as serial ones of this CPU.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "autotune/measure/accuracy_gate.h"
#include "autotune/measure/loaded_kernel.h"
#include "generators/gpu_emit.h"
#include "schedules/gpu_space.h"
#include "schedules/target.h"
#include "tests/gpu_problems.h"

namespace normforge {
namespace {

void expect_accurate(const AccuracyGate &gate, const NormProblem &problem, const GpuKnobs &knobs) {
    const GpuKernelSpec spec{problem, knobs};
    const LoadedKernel kernel(problem, emit_serial(spec, kernel_target("host")), kernel_symbol(spec));
    const AccuracyGate::Result result = gate.check(kernel.kernel());
    EXPECT_EQ(result.failure, "") << to_text(problem) << " " << to_text(knobs);
    EXPECT_LE(result.error_ratio, 1);
}

class GpuNormTest : public testing::TestWithParam<NormProblem> {};

// NORMFORGE_ALL_GPU_SCHEDULES=1 takes all of them, which takes long.
TEST_P(GpuNormTest, PassesTheAccuracyGate) {
    const NormProblem &problem = GetParam();
    const AccuracyGate gate(problem, MergedIn::f32);
    const bool all = std::getenv("NORMFORGE_ALL_GPU_SCHEDULES") != nullptr;
    std::vector<GpuKnobs> schedules = all ? enumerate_gpu(problem) : std::vector<GpuKnobs>{gpu_heuristic(problem)};
    if (!all && problem.hidden <= 1024 && problem.dtype == NF_F32) {
        const std::vector<GpuKnobs> more = some_schedules(problem, 3);
        schedules.insert(schedules.end(), more.begin(), more.end());
    }
    for (const GpuKnobs &knobs : schedules) {
        expect_accurate(gate, problem, knobs);
    }
}

std::string name_of(const testing::TestParamInfo<NormProblem> &test) {
    return symbol_name(test.param);
}

INSTANTIATE_TEST_SUITE_P(Grid, GpuNormTest, testing::ValuesIn(gpu_problems()), name_of);

INSTANTIATE_TEST_SUITE_P(Others, GpuNormTest, testing::ValuesIn(other_gpu_problems()), name_of);

INSTANTIATE_TEST_SUITE_P(Gradients, GpuNormTest, testing::ValuesIn(gpu_gradients()), name_of);

INSTANTIATE_TEST_SUITE_P(OtherGradients, GpuNormTest, testing::ValuesIn(other_gpu_gradients()), name_of);

// Each way to sum and to keep a row, with chunks that are full and with one that is not.
TEST(GpuSchedules, AllOfARowGiveAccurateValues) {
    for (const char *text : {"op=layer_norm,dtype=f32,hidden=640", "op=rms_norm,dtype=f32,hidden=512",
                             "op=layer_norm,pass=backward,dtype=f32,saved_statistics=yes,hidden=640"}) {
        const NormProblem problem = parse_problem(text);
        const AccuracyGate gate(problem, MergedIn::f32);
        for (const GpuKnobs &knobs : enumerate_gpu(problem)) {
            if (knobs.rows <= 2) {
                expect_accurate(gate, problem, knobs);
            }
        }
    }
}

}  // namespace
}  // namespace normforge
