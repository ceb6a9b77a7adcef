// Loading CUDA kernels, by a stub of the driver.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cuda_examples.h"
#include "tests/cuda_stub.h"

namespace normforge {
namespace {

class CudaLoad : public testing::Test {
protected:
    CudaLoad() { cuda_stub() = {}; }

    nf_status load() { return nf_cuda_load(&example.library(), &cuda); }

    const CudaExample example{default_problem(NF_RMS_NORM, 64)};
    nf_cuda *cuda = reinterpret_cast<nf_cuda *>(this);
};

TEST_F(CudaLoad, LoadsAllOfALibraryOnce) {
    ASSERT_EQ(load(), NF_SUCCESS);
    EXPECT_EQ(cuda_stub().modules, 2);
    // Only one of them needs leave for its shared memory.
    EXPECT_EQ(std::ranges::count(cuda_stub().calls, "cuFuncSetAttribute"), 1);
    ASSERT_EQ(nf_cuda_kernel_count(cuda), 1);
    const nf_problem problem = default_problem(NF_RMS_NORM, 64);
    const nf_cuda_kernel *kernel = nullptr;
    EXPECT_EQ(nf_cuda_find(cuda, &problem, &kernel), NF_SUCCESS);
    EXPECT_EQ(kernel, nf_cuda_kernel_at(cuda, 0));
    EXPECT_EQ(nf_cuda_kernel_at(cuda, 1), nullptr);
    nf_description description{};
    EXPECT_EQ(nf_cuda_describe(kernel, &description), NF_SUCCESS);
    EXPECT_STREQ(description.symbol, "vectors");
    EXPECT_STREQ(description.target, "cuda");
    nf_cuda_unload(cuda);
    EXPECT_EQ(cuda_stub().modules, 0);
}

TEST_F(CudaLoad, FindsNoOtherProblem) {
    ASSERT_EQ(load(), NF_SUCCESS);
    const nf_cuda_kernel *kernel = nf_cuda_kernel_at(cuda, 0);
    const nf_problem other = default_problem(NF_RMS_NORM, 65);
    EXPECT_EQ(nf_cuda_find(cuda, &other, &kernel), NF_ERROR_NO_KERNEL);
    EXPECT_EQ(kernel, nullptr);
    const nf_problem wrong = default_problem(NF_RMS_NORM, 0);
    EXPECT_EQ(nf_cuda_find(cuda, &wrong, &kernel), NF_ERROR_BAD_HIDDEN);
    EXPECT_EQ(nf_cuda_find(nullptr, &other, &kernel), NF_ERROR_NULL_ARGUMENT);
    EXPECT_EQ(nf_cuda_find(cuda, &other, nullptr), NF_ERROR_NULL_ARGUMENT);
    nf_cuda_unload(cuda);
}

// Kernels for CPUs of the same library need no driver; nf_find does not give those of CUDA.
TEST_F(CudaLoad, IsNoKernelOfACpu) {
    const nf_problem problem = default_problem(NF_RMS_NORM, 64);
    const nf_kernel *kernel = nullptr;
    EXPECT_EQ(nf_find(&example.library(), &problem, &kernel), NF_ERROR_NO_KERNEL);
    EXPECT_TRUE(cuda_stub().calls.empty());
}

TEST_F(CudaLoad, RefusesNullAndALibraryWithout) {
    EXPECT_EQ(nf_cuda_load(nullptr, &cuda), NF_ERROR_NULL_ARGUMENT);
    EXPECT_EQ(cuda, nullptr);
    EXPECT_EQ(nf_cuda_load(&example.library(), nullptr), NF_ERROR_NULL_ARGUMENT);
    const nf_library without{};
    EXPECT_EQ(nf_cuda_load(&without, &cuda), NF_ERROR_NO_KERNEL);
    nf_cuda_unload(nullptr);
    EXPECT_EQ(nf_cuda_kernel_count(nullptr), 0);
}

TEST_F(CudaLoad, WantsAContext) {
    cuda_stub().has_context = false;
    EXPECT_EQ(load(), NF_ERROR_NO_CUDA_CONTEXT);
    EXPECT_EQ(cuda, nullptr);
}

TEST_F(CudaLoad, WantsADeviceThatIsNewEnough) {
    cuda_stub().compute_capability = 7;
    EXPECT_EQ(load(), NF_ERROR_CUDA_TOO_OLD);
    cuda_stub().compute_capability = 8;
    EXPECT_EQ(load(), NF_SUCCESS);
    nf_cuda_unload(cuda);
}

// The newest cubin that the device runs, where there is one: other images are PTX.
TEST_F(CudaLoad, TakesTheCubinThatFitsTheDevice) {
    const auto image = [&](int major, int minor) -> std::string {
        cuda_stub() = {};
        cuda_stub().compute_capability = major;
        cuda_stub().minor_capability = minor;
        EXPECT_EQ(load(), NF_SUCCESS);
        nf_cuda_unload(cuda);
        EXPECT_STREQ(cuda_stub().images.at(1), "image of values");
        return cuda_stub().images.at(0);
    };
    EXPECT_EQ(image(8, 0), "for 8.0");
    EXPECT_EQ(image(8, 6), "for 8.6");
    EXPECT_EQ(image(8, 9), "for 8.6");
    EXPECT_EQ(image(9, 0), "for 9.0");
    EXPECT_EQ(image(10, 0), "image of vectors");
    EXPECT_EQ(image(12, 0), "image of vectors");
}

TEST_F(CudaLoad, TakesThePtxWhereTheDriverRefusesTheCubin) {
    cuda_stub().refused_image = example.library().cuda_entries[0].codes[0].cubins[2].image;
    ASSERT_EQ(load(), NF_SUCCESS);
    EXPECT_STREQ(cuda_stub().images.at(0), "image of vectors");
    nf_cuda_unload(cuda);
    EXPECT_EQ(cuda_stub().modules, 0);
}

TEST(CudaGradientLoad, LoadsTheSumsToo) {
    cuda_stub() = {};
    NormProblem problem = default_problem(NF_LAYER_NORM, 64);
    problem.pass = NF_BACKWARD;
    problem.saved_statistics = NF_YES;
    const CudaGradientExample example(problem);
    nf_cuda *cuda = nullptr;
    ASSERT_EQ(nf_cuda_load(&example.library(), &cuda), NF_SUCCESS);
    EXPECT_EQ(cuda_stub().modules, 2);
    nf_cuda_unload(cuda);
    EXPECT_EQ(cuda_stub().modules, 0);
}

struct Failure {
    const char *call;
    int result;  // of the driver
    nf_status status;
};

class FailingDriver : public CudaLoad, public testing::WithParamInterface<Failure> {};

// Nothing stays loaded.
TEST_P(FailingDriver, GivesAStatus) {
    cuda_stub().failing_call = GetParam().call;
    cuda_stub().failure = GetParam().result;
    EXPECT_EQ(load(), GetParam().status);
    EXPECT_EQ(cuda, nullptr);
    EXPECT_EQ(cuda_stub().modules, 0);
}

INSTANTIATE_TEST_SUITE_P(All, FailingDriver,
                         testing::Values(Failure{"cuInit", 100, NF_ERROR_NO_CUDA},
                                         Failure{"cuCtxGetCurrent", 3, NF_ERROR_NO_CUDA_CONTEXT},
                                         Failure{"cuCtxGetDevice", 201, NF_ERROR_NO_CUDA_CONTEXT},
                                         Failure{"cuDeviceGetAttribute", 1, NF_ERROR_CUDA_TOO_OLD},
                                         Failure{"cuModuleLoadData", 2, NF_ERROR_CUDA_LOAD},
                                         Failure{"cuModuleLoadData", 222, NF_ERROR_CUDA_TOO_OLD},
                                         Failure{"cuModuleLoadData", 209, NF_ERROR_CUDA_TOO_OLD},
                                         Failure{"cuModuleGetFunction", 500, NF_ERROR_CUDA_LOAD},
                                         Failure{"cuFuncSetAttribute", 1, NF_ERROR_CUDA_LOAD}),
                         [](const auto &test) {
                             return std::string(test.param.call) + "_" + std::to_string(test.param.result);
                         });

}  // namespace
}  // namespace normforge
