// CUDA kernels by the runtime's calls, with a stub of the driver that runs their loops as serial ones of this CPU:
// that what a launch hands over is what the kernel takes.

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "autotune/measure/accuracy_gate.h"
#include "generators/cuda_codes.h"
#include "runtime/kernel_table.h"
#include "schedules/gpu_space.h"
#include "tests/gpu_problems.h"
#include "tests/serial_launch.h"

namespace normforge {
namespace {

class CudaKernels : public testing::TestWithParam<NormProblem> {};

TEST_P(CudaKernels, PassTheAccuracyGate) {
    const NormProblem &problem = GetParam();
    const GpuKnobs knobs = gpu_heuristic(problem);
    const TableCudaCode of_rows = cuda_code({problem, knobs, GpuAlignment::value});
    const std::vector<TableCudaCode> of_sums = cuda_sums(problem);
    SerialLaunch serial(problem, knobs, of_rows.parameters);
    std::optional<SerialSums> serial_sums;
    const nf_cuda_code code = runtime_form(of_rows);
    nf_cuda_code sums{};
    if (!of_sums.empty()) {
        serial_sums.emplace(problem, of_sums[0].parameters);
        sums = runtime_form(of_sums[0]);
    }
    const nf_cuda_entry entry{problem, "cuda", "", "", 1, &code, of_sums.empty() ? nullptr : &sums};
    const nf_library library{0, nullptr, 1, &entry};
    cuda_stub() = {};
    cuda_stub().run = [&](const StubLaunch &launch) {
        if (launch.symbol == of_rows.symbol) {
            serial.run(launch);
        } else {
            serial_sums->run(launch);
        }
    };
    nf_cuda *cuda = nullptr;
    ASSERT_EQ(nf_cuda_load(&library, &cuda), NF_SUCCESS);
    const nf_cuda_kernel *kernel = nf_cuda_kernel_at(cuda, 0);
    std::vector<float> workspace;
    const auto run = [&](nf_arguments arguments) {
        const int64_t bytes = nf_cuda_workspace_bytes(kernel, arguments.rows, arguments.groups);
        workspace.assign(static_cast<size_t>(bytes) / sizeof(float), NAN);
        arguments.workspace = workspace.data();
        return nf_cuda_run(kernel, &arguments, nullptr);
    };
    const AccuracyGate::Result result = AccuracyGate(problem, MergedIn::f32).check(run);
    EXPECT_EQ(result.failure, "");
    EXPECT_EQ(serial.wrong_blocks, 0);
    nf_cuda_unload(cuda);
}

INSTANTIATE_TEST_SUITE_P(Some, CudaKernels, testing::ValuesIn(other_gpu_problems()),
                         [](const auto &test) { return symbol_name(test.param); });

INSTANTIATE_TEST_SUITE_P(Gradients, CudaKernels, testing::ValuesIn(other_gpu_gradients()),
                         [](const auto &test) { return symbol_name(test.param); });

}  // namespace
}  // namespace normforge
