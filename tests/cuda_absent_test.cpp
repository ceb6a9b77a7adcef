// Loading CUDA kernels where there is no driver.

#include <dlfcn.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace normforge
