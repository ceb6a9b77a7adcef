// Loading CUDA kernels where there is no driver.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "autotune/search/detect_gpu.h"
#include "runtime/user_error.h"
#include "tests/cuda_examples.h"

namespace normforge {
namespace {

TEST(WithoutADriver, LoadingSaysSo) {
    if (void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {
        dlclose(driver);
        GTEST_SKIP() << "this machine has a CUDA driver";
    }
    const CudaExample example(default_problem(NF_RMS_NORM, 64));
    nf_cuda *cuda = nullptr;
    EXPECT_EQ(nf_cuda_load(&example.library(), &cuda), NF_ERROR_NO_CUDA);
    EXPECT_EQ(cuda, nullptr);
}

TEST(WithoutADriver, TuningSaysSo) {
    if (void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {
        dlclose(driver);
        GTEST_SKIP() << "this machine has a CUDA driver";
    }
    try {
        detect_gpu();
        FAIL() << "found a GPU";
    } catch (const UserError &error) {
        EXPECT_PRED_FORMAT2(testing::IsSubstring, nf_status_message(NF_ERROR_NO_CUDA), error.what());
    }
    EXPECT_EQ(this_machine().gpu, hardware_of(gpu_device(kUsualGpu)));
}

}  // namespace
}  // namespace normforge
