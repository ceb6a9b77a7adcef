// Calls of CUDA kernels for gradients, by a stub of the driver.

#include <gtest/gtest.h>
#include <malloc.h>

#include <string>
#include <vector>

#include "runtime/cuda_slices.h"
#include "runtime/gradient_sums.h"
#include "tests/cuda_examples.h"
#include "tests/cuda_stub.h"

namespace normforge {
namespace {

constexpr int64_t kHidden = 64;

NormProblem gradients() {
    return parse_problem("op=layer_norm,pass=backward,dtype=f32,saved_statistics=yes,hidden=64");
}

struct RowsLaunch {
    unsigned blocks;
    const float *x, *dweight, *dbias, *mean;
    int32_t row_stride, slice_stride, slices, continues, rows;
};

struct SumsLaunch {
    unsigned blocks;
    const float *workspace;
    int32_t slices;
    void *dweight, *dbias;
};

class CudaGradientRun : public testing::Test {
protected:
    CudaGradientRun() {
        cuda_stub() = {};
        EXPECT_EQ(nf_cuda_load(&example.library(), &cuda), NF_SUCCESS);
        kernel = nf_cuda_kernel_at(cuda, 0);
        cuda_stub().calls.clear();
        cuda_stub().run = [this](const StubLaunch &launch) {
            if (launch.symbol == "rows") {
                rows.push_back({launch.blocks, get<const float *>(launch, 0), get<const float *>(launch, 1),
                                get<const float *>(launch, 2), get<const float *>(launch, 8),
                                get<int32_t>(launch, 3), get<int32_t>(launch, 4), get<int32_t>(launch, 5),
                                get<int32_t>(launch, 6), get<int32_t>(launch, 7)});
            } else {
                sums.push_back({launch.blocks, get<const float *>(launch, 0), get<int32_t>(launch, 1),
                                get<void *>(launch, 2), get<void *>(launch, 3)});
            }
        };
    }
    ~CudaGradientRun() override { nf_cuda_unload(cuda); }

    template <typename Value>
    static Value get(const StubLaunch &launch, size_t index) {
        return *static_cast<Value *>(launch.parameters[index]);
    }

    // Of operands that are never read: nothing of the device is looked at.
    static float *address(int64_t place, int64_t value = 0) {
        return reinterpret_cast<float *>(place << 40) + value;
    }

    static nf_arguments arguments(int64_t row_count, int64_t groups = 1) {
        nf_arguments result{};
        result.rows = row_count;
        result.groups = groups;
        const int64_t group_stride = row_count * kHidden;
        result.x = {address(1), kHidden, group_stride};
        result.dy = {address(2), kHidden, group_stride};
        result.dx = {address(3), kHidden, group_stride};
        result.mean = address(4);
        result.rstd = address(5);
        result.weight = address(6);
        result.dweight = address(7);
        result.dbias = address(8);
        result.workspace = address(9);
        return result;
    }

    const CudaGradientExample example{gradients()};
    nf_cuda *cuda = nullptr;
    const nf_cuda_kernel *kernel = nullptr;
    std::vector<RowsLaunch> rows;
    std::vector<SumsLaunch> sums;
};

TEST_F(CudaGradientRun, IsTwoLaunches) {
    const nf_arguments call = arguments(40);
    ASSERT_EQ(nf_cuda_run(kernel, &call, nullptr), NF_SUCCESS);
    EXPECT_EQ(cuda_stub().calls, std::vector<std::string>(2, "cuLaunchKernel"));
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].slices, 10);
    EXPECT_EQ(rows[0].blocks, 3u);  // of 4 slices
    EXPECT_EQ(rows[0].rows, 40);
    EXPECT_EQ(rows[0].row_stride, kHidden);
    EXPECT_EQ(rows[0].slice_stride, 10 * kHidden);
    EXPECT_EQ(rows[0].continues, 0);
    EXPECT_EQ(rows[0].dweight, address(9));
    EXPECT_EQ(rows[0].dbias, address(9, kHidden));
    ASSERT_EQ(sums.size(), 1u);
    EXPECT_EQ(sums[0].blocks, 2u);  // of 32 values
    EXPECT_EQ(sums[0].workspace, address(9));
    EXPECT_EQ(sums[0].slices, 10);
    EXPECT_EQ(sums[0].dweight, call.dweight);
    EXPECT_EQ(sums[0].dbias, call.dbias);
}

TEST_F(CudaGradientRun, AllocatesNothing) {
    cuda_stub().run = nullptr;
    cuda_stub().calls.reserve(8);
    cuda_stub().launches.reserve(8);
    const nf_arguments call = arguments(9);
    const size_t before = mallinfo2().uordblks;
    ASSERT_EQ(nf_cuda_run(kernel, &call, nullptr), NF_SUCCESS);
    EXPECT_EQ(mallinfo2().uordblks, before);
}

TEST_F(CudaGradientRun, OfGroupsAddsAllSlicesAtTheEnd) {
    const nf_arguments call = arguments(6, 5);
    ASSERT_EQ(nf_cuda_run(kernel, &call, nullptr), NF_SUCCESS);
    ASSERT_EQ(rows.size(), 5u);
    for (int64_t group = 0; group < 5; group++) {
        EXPECT_EQ(rows[group].x, address(1, group * 6 * kHidden));
        EXPECT_EQ(rows[group].mean, address(4, group * 6));
        EXPECT_EQ(rows[group].dweight, address(9, group * 2 * 2 * kHidden));
        EXPECT_EQ(rows[group].slices, 2);
    }
    ASSERT_EQ(sums.size(), 1u);
    EXPECT_EQ(sums[0].slices, 10);
    EXPECT_EQ(nf_cuda_workspace_bytes(kernel, 6, 5), 10 * 2 * kHidden * 4);
}

// Their rows go on with the slices of those before.
TEST_F(CudaGradientRun, LaunchesInPartsWhatGoesBeyond31Bits) {
    nf_arguments call = arguments(100);
    call.x.row_stride = int64_t{1} << 26;  // 31 of them
    ASSERT_EQ(nf_cuda_run(kernel, &call, nullptr), NF_SUCCESS);
    ASSERT_EQ(rows.size(), 4u);
    for (int64_t part = 0; part < 4; part++) {
        EXPECT_EQ(rows[part].x, address(1, part * 31 << 26));
        EXPECT_EQ(rows[part].mean, address(4, part * 31));
        EXPECT_EQ(rows[part].rows, part < 3 ? 31 : 7);
        EXPECT_EQ(rows[part].slices, part < 3 ? 25 : 7);
        EXPECT_EQ(rows[part].continues, part > 0);
        EXPECT_EQ(rows[part].dweight, address(9));
    }
    EXPECT_EQ(sums.at(0).slices, 25);
}

// The sums of no rows are zeros.
TEST_F(CudaGradientRun, OfNoRowsLaunchesTheSumsAlone) {
    nf_arguments call = arguments(0);
    call.workspace = nullptr;
    ASSERT_EQ(nf_cuda_run(kernel, &call, nullptr), NF_SUCCESS);
    EXPECT_TRUE(rows.empty());
    EXPECT_EQ(sums.at(0).slices, 0);
}

TEST_F(CudaGradientRun, ChecksTheWorkspace) {
    nf_arguments call = arguments(9);
    call.workspace = nullptr;
    EXPECT_EQ(nf_cuda_run(kernel, &call, nullptr), NF_ERROR_NULL_OPERAND);
    EXPECT_STREQ(nf_cuda_operand_at_fault(kernel, &call), "workspace");
    // The last of its values is the first of dx.
    call.workspace = address(3, 1 - 3 * 2 * kHidden);
    EXPECT_EQ(nf_cuda_run(kernel, &call, nullptr), NF_ERROR_OVERLAP);
    call.workspace = address(3, -3 * 2 * kHidden);
    EXPECT_EQ(nf_cuda_run(kernel, &call, nullptr), NF_SUCCESS);
}

TEST_F(CudaGradientRun, SaysThatALaunchFailed) {
    cuda_stub().failing_call = "cuLaunchKernel";
    const nf_arguments call = arguments(2);
    EXPECT_EQ(nf_cuda_run(kernel, &call, nullptr), NF_ERROR_CUDA_LAUNCH);
}

TEST(CudaSlices, HaveAbout4To64Rows) {
    const NormProblem problem = gradients();
    for (const int64_t row_count : {1, 3, 4, 5, 100, 10000, 100000, 1000000, 10000000}) {
        const int64_t slices = cuda_slices(problem, row_count);
        const int64_t longest = (row_count - 1) / slices + 1;
        EXPECT_LE(longest, 64) << row_count;
        EXPECT_LE(slices, (row_count - 1) / 4 + 1) << row_count;
        EXPECT_EQ(cuda_workspace_bytes(problem, row_count, 1, 1), slices * 2 * kHidden * 4);
    }
}

TEST(CudaSlices, AreRowsWhereThereIsNothingToSum) {
    const NormProblem problem =
        parse_problem("op=rms_norm,pass=backward,dtype=f32,weight=none,saved_statistics=yes,hidden=64");
    EXPECT_EQ(cuda_slices(problem, 77), 77);
    EXPECT_EQ(cuda_workspace_bytes(problem, 77, 3, 1), 0);
    EXPECT_EQ(cuda_workspace_bytes(gradients(), INT64_MAX / 2, 64, 1), INT64_MAX);
}

}  // namespace
}  // namespace normforge
