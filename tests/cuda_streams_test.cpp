// examples/cuda_streams.c, loaded beside a stub of the driver, and as the program it is where there is no driver.

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <map>
#include <string>

#include "autotune/base/text_file.h"
#include "autotune/library/cuda_entries.h"
#include "schedules/gpu_space.h"
#include "tests/serial_launch.h"
#include "tests/temporary_folder.h"

namespace normforge {
namespace {

constexpr int kNoGpu = 77;

class CudaStreams : public testing::Test {
protected:
    CudaStreams() {
        cuda_stub() = {};
        cuda_stub().prepare = [this](const StubLaunch &launch) {
            return kernels_.at(launch.symbol).prepare(launch);
        };
        const NormProblem problem = parse_problem("op=rms_norm,dtype=f32,hidden=1024,residual=f32,sum=f32");
        const GpuKnobs knobs = gpu_heuristic(problem);
        const TableCudaEntry entry = cuda_entries({{problem, knobs, "heuristic"}}).front();
        for (const TableCudaCode &code : entry.codes) {
            kernels_.try_emplace(code.symbol, problem, knobs, code.parameters);
        }
        module_ = dlopen(NORMFORGE_MODULE, RTLD_NOW | RTLD_LOCAL);
        EXPECT_TRUE(module_) << dlerror();
        example_ = reinterpret_cast<int (*)()>(dlsym(module_, "cuda_streams"));
    }
    ~CudaStreams() override { dlclose(module_); }

    std::map<std::string, SerialLaunch> kernels_;
    void *module_ = nullptr;
    int (*example_)() = nullptr;
};

TEST_F(CudaStreams, ComputesWhatItShould) {
    ASSERT_TRUE(example_);
    EXPECT_EQ(example_(), 0);
    EXPECT_EQ(cuda_stub().launches.size(), 8u);  // four parts, and four that are captured
    EXPECT_EQ(cuda_stub().modules, 0);
}

TEST_F(CudaStreams, SaysThatThereIsNoDevice) {
    cuda_stub().failing_call = "cuInit";
    EXPECT_EXIT(example_(), testing::ExitedWithCode(kNoGpu), "there is no CUDA driver, .* or it finds no device");
}

TEST_F(CudaStreams, SaysWhatTheDriverRefuses) {
    cuda_stub().failing_call = "cuLaunchKernel";
    EXPECT_EXIT(example_(), testing::ExitedWithCode(1), "the CUDA driver refused a launch");
}

// Another process, which the stub is no part of.
TEST(CudaStreamsProgram, SaysThatThereIsNoDriver) {
    const TemporaryFolder folder;
    const std::string messages = folder / "messages.txt";
    const int status = std::system((NORMFORGE_PROGRAM " 2>" + messages).c_str());
    ASSERT_TRUE(WIFEXITED(status));
    if (WEXITSTATUS(status) == 0) {
        GTEST_SKIP() << "this machine has a CUDA device";
    }
    EXPECT_EQ(WEXITSTATUS(status), kNoGpu);
    EXPECT_EQ(first_line(messages), nf_status_message(NF_ERROR_NO_CUDA));
}

}  // namespace
}  // namespace normforge
