// Calls of CUDA kernels, by a stub of the driver.

#include <gtest/gtest.h>
#include <malloc.h>

#include <string>
#include <vector>

#include "tests/cuda_examples.h"
#include "tests/cuda_stub.h"

namespace normforge {
namespace {

constexpr int64_t kHidden = 64;

// What a launch got, by the example's parameters.
struct Launched {
    std::string symbol;
    unsigned blocks;
    const float *x;
    float *y;
    int32_t x_stride;
    float epsilon;
    int32_t rows;
};

class CudaRun : public testing::Test {
protected:
    CudaRun() {
        cuda_stub() = {};
        EXPECT_EQ(nf_cuda_load(&example.library(), &cuda), NF_SUCCESS);
        kernel = nf_cuda_kernel_at(cuda, 0);
        cuda_stub().calls.clear();
        cuda_stub().run = [this](const StubLaunch &launch) {
            launched.push_back({launch.symbol, launch.blocks, parameter<const float *>(launch, 1),
                                parameter<float *>(launch, 2), parameter<int32_t>(launch, 3),
                                parameter<float>(launch, 4), parameter<int32_t>(launch, 5)});
        };
    }
    ~CudaRun() override { nf_cuda_unload(cuda); }

    template <typename Value>
    static Value parameter(const StubLaunch &launch, size_t index) {
        return *static_cast<Value *>(launch.parameters[index]);
    }

    // Of operands that are never read: nothing of the device is looked at.
    float *address(int64_t value) const { return reinterpret_cast<float *>(int64_t{1} << 40) + value; }

    nf_arguments arguments(int64_t rows, int64_t groups = 1) const {
        nf_arguments result{};
        result.rows = rows;
        result.groups = groups;
        result.epsilon = 0.5f;
        result.weight = address(-1024);
        result.x = {address(0), kHidden, rows * kHidden};
        result.y = {address(1 << 20), kHidden, rows * kHidden};
        return result;
    }

    const CudaExample example{default_problem(NF_RMS_NORM, kHidden)};
    nf_cuda *cuda = nullptr;
    const nf_cuda_kernel *kernel = nullptr;
    std::vector<Launched> launched;
};

TEST_F(CudaRun, IsOneLaunchOnTheStream) {
    nf_arguments call = arguments(9);
    call.x.row_stride = 80;
    int stream = 0;
    ASSERT_EQ(nf_cuda_run(kernel, &call, &stream), NF_SUCCESS);
    EXPECT_EQ(cuda_stub().calls, std::vector<std::string>{"cuLaunchKernel"});
    const StubLaunch &launch = cuda_stub().launches.at(0);
    EXPECT_EQ(launch.stream, &stream);
    EXPECT_EQ(launch.blocks, 3u);  // of 4 rows
    EXPECT_EQ(launch.threads_x, 32u);
    EXPECT_EQ(launch.threads_y, 4u);
    EXPECT_EQ(launch.shared_bytes, 0u);
    EXPECT_EQ(launched.at(0).symbol, "vectors");
    EXPECT_EQ(launched.at(0).x, address(0));
    EXPECT_EQ(launched.at(0).y, address(1 << 20));
    EXPECT_EQ(launched.at(0).x_stride, 80);
    EXPECT_EQ(launched.at(0).epsilon, 0.5f);
    EXPECT_EQ(launched.at(0).rows, 9);
}

TEST_F(CudaRun, AllocatesNothing) {
    cuda_stub().run = nullptr;
    cuda_stub().calls.reserve(8);
    cuda_stub().launches.reserve(8);
    const nf_arguments call = arguments(9);
    const size_t before = mallinfo2().uordblks;
    ASSERT_EQ(nf_cuda_run(kernel, &call, nullptr), NF_SUCCESS);
    EXPECT_EQ(mallinfo2().uordblks, before);
}

TEST_F(CudaRun, OfNoRowsIsNoLaunch) {
    const nf_arguments call = arguments(0);
    EXPECT_EQ(nf_cuda_run(kernel, &call, nullptr), NF_SUCCESS);
    EXPECT_TRUE(cuda_stub().calls.empty());
}

// Whole vectors only where all of them are.
TEST_F(CudaRun, TakesTheCodeForTheAlignment) {
    const auto symbol = [&](const std::function<void(nf_arguments &)> &change) {
        nf_arguments call = arguments(2, 3);
        change(call);
        launched.clear();
        EXPECT_EQ(nf_cuda_run(kernel, &call, nullptr), NF_SUCCESS);
        return launched.at(0).symbol;
    };
    EXPECT_EQ(symbol([](nf_arguments &) {}), "vectors");
    EXPECT_EQ(symbol([&](nf_arguments &call) { call.x.data = address(1); }), "values");
    EXPECT_EQ(symbol([&](nf_arguments &call) { call.y.data = address((1 << 20) + 2); }), "values");
    EXPECT_EQ(symbol([&](nf_arguments &call) { call.weight = address(-1023); }), "values");
    EXPECT_EQ(symbol([](nf_arguments &call) { call.x.row_stride++; }), "values");
    EXPECT_EQ(symbol([](nf_arguments &call) { call.x.group_stride++; }), "values");
    EXPECT_EQ(symbol([](nf_arguments &call) {
                  call.rows = 1;
                  call.x.row_stride = 1;  // of no meaning
              }),
              "vectors");
}

TEST_F(CudaRun, LaunchesForEachGroupOrForEachRow) {
    const nf_arguments few_groups = arguments(5, 3);
    ASSERT_EQ(nf_cuda_run(kernel, &few_groups, nullptr), NF_SUCCESS);
    ASSERT_EQ(launched.size(), 3u);
    EXPECT_EQ(launched[2].x, address(2 * 5 * kHidden));
    EXPECT_EQ(launched[2].rows, 5);
    EXPECT_EQ(launched[2].x_stride, kHidden);

    launched.clear();
    const nf_arguments few_rows = arguments(3, 5);
    ASSERT_EQ(nf_cuda_run(kernel, &few_rows, nullptr), NF_SUCCESS);
    ASSERT_EQ(launched.size(), 3u);
    EXPECT_EQ(launched[2].x, address(2 * kHidden));
    EXPECT_EQ(launched[2].rows, 5);
    EXPECT_EQ(launched[2].x_stride, 3 * kHidden);
}

TEST_F(CudaRun, LaunchesInPartsWhatGoesBeyond31Bits) {
    nf_arguments call = arguments(5);
    call.x = {address(int64_t{1} << 35), int64_t{1} << 30, 0};
    ASSERT_EQ(nf_cuda_run(kernel, &call, nullptr), NF_SUCCESS);
    ASSERT_EQ(launched.size(), 5u);
    EXPECT_EQ(launched[4].x, address((int64_t{1} << 35) + (int64_t{4} << 30)));
    EXPECT_EQ(launched[4].y, address((1 << 20) + 4 * kHidden));
}

TEST_F(CudaRun, ChecksWhatNfRunChecks) {
    nf_arguments call = arguments(2);
    call.y.data = nullptr;
    EXPECT_EQ(nf_cuda_run(kernel, &call, nullptr), NF_ERROR_NULL_OPERAND);
    EXPECT_STREQ(nf_cuda_operand_at_fault(kernel, &call), "y");
    EXPECT_EQ(nf_cuda_run(nullptr, &call, nullptr), NF_ERROR_NULL_ARGUMENT);
    EXPECT_EQ(nf_cuda_run(kernel, nullptr, nullptr), NF_ERROR_NULL_ARGUMENT);
    EXPECT_TRUE(cuda_stub().calls.empty());
}

TEST_F(CudaRun, SaysThatALaunchFailed) {
    cuda_stub().failing_call = "cuLaunchKernel";
    const nf_arguments call = arguments(2);
    EXPECT_EQ(nf_cuda_run(kernel, &call, nullptr), NF_ERROR_CUDA_LAUNCH);
}

}  // namespace
}  // namespace normforge
