// CUDA kernels by the runtime's calls, with a stub of the driver that runs their loops as serial ones of this CPU:
// that what a launch hands over is what the kernel takes.

#include <gtest/gtest.h>

#include <string>

#include "autotune/measure/accuracy_gate.h"
#include "autotune/measure/single_kernel.h"
#include "runtime/kernel_table.h"
#include "schedules/gpu_space.h"
#include "tests/gpu_problems.h"
#include "tests/serial_launch.h"

namespace normforge {
namespace {

const nf_cuda_kernel *tested_kernel = nullptr;

void run_tested_kernel(const nf_arguments *arguments) {
    EXPECT_EQ(nf_cuda_run(tested_kernel, arguments, nullptr), NF_SUCCESS);
}

class CudaKernels : public testing::TestWithParam<NormProblem> {};

TEST_P(CudaKernels, PassTheAccuracyGate) {
    const NormProblem &problem = GetParam();
    const GpuKnobs knobs = gpu_heuristic(problem);
    const GpuKernelSpec spec{problem, knobs, GpuAlignment::value};
    const GpuKernel kernel = emit_cuda(spec);
    SerialLaunch serial(problem, knobs, kernel.launch.parameters);
    const std::string symbol = kernel_symbol(spec);
    const nf_cuda_code code{kernel.ptx.c_str(),
                            symbol.c_str(),
                            std::ssize(kernel.launch.parameters),
                            kernel.launch.parameters.data(),
                            1,
                            knobs.rows,
                            kernel.launch.threads_x,
                            kernel.launch.threads_y,
                            kernel.launch.shared_bytes};
    const nf_cuda_entry entry{problem, "cuda", "", "", 1, &code};
    const nf_library library{0, nullptr, 1, &entry};
    cuda_stub() = {};
    cuda_stub().run = [&](const StubLaunch &launch) { serial.run(launch); };
    nf_cuda *cuda = nullptr;
    ASSERT_EQ(nf_cuda_load(&library, &cuda), NF_SUCCESS);
    tested_kernel = nf_cuda_kernel_at(cuda, 0);
    const SingleKernel caller(problem, run_tested_kernel);
    const AccuracyGate::Result result = AccuracyGate(problem, MergedIn::f32).check(caller.kernel());
    EXPECT_EQ(result.failure, "");
    EXPECT_EQ(serial.wrong_blocks, 0);
    nf_cuda_unload(cuda);
}

INSTANTIATE_TEST_SUITE_P(Some, CudaKernels, testing::ValuesIn(other_gpu_problems()),
                         [](const auto &test) { return symbol_name(test.param); });

}  // namespace
}  // namespace normforge
