#include <gtest/gtest.h>

#include <cmath>

#include "runtime/float_types.h"
#include "tests/argument_examples.h"
#include "tests/summing_kernel.h"

namespace normforge {
namespace {

TEST(GradientsOfNoRows, AreZero) {
    const NormProblem problem = backward_problem("weight=f32,bias=bf16");
    const nf_kernel kernel = summing_kernel(problem);
    std::vector<float> dweight(kHidden + 1, 7.0f);
    std::vector<uint16_t> dbias(kHidden + 1, 7);
    nf_arguments arguments{};
    arguments.dweight = dweight.data();
    arguments.dbias = dbias.data();
    rows_of_calls.clear();
    ASSERT_EQ(nf_run(&kernel, &arguments), NF_SUCCESS);
    EXPECT_TRUE(rows_of_calls.empty());
    EXPECT_EQ(dweight, (std::vector<float>{0, 0, 0, 0, 0, 7}));
    EXPECT_EQ(dbias, (std::vector<uint16_t>{0, 0, 0, 0, 0, 7}));
}

// A sum in the weight's own type would stay at 256 in bf16 and at 2048 in f16.
TEST(GradientsOfOnes, CountTheRows) {
    struct {
        int64_t rows;
        double bf16, f16;
    } const cases[] = {{257, 256, 257},    {259, 260, 259},       {2049, 2048, 2048},      {4096, 4096, 4096},
                       {8192, 8192, 8192}, {65504, 65536, 65504}, {65537, 65536, INFINITY}};
    const NormProblem problem = backward_problem("weight=bf16,bias=f16");
    const nf_kernel kernel = summing_kernel(problem);
    const std::vector<float> ones(kHidden, 1.0f);
    for (const auto &one : cases) {
        std::vector<float> mean(one.rows, 0.0f);
        std::vector<float> rstd(one.rows, 1.0f);
        std::vector<uint16_t> dweight(kHidden);
        std::vector<uint16_t> dbias(kHidden);
        std::vector<char> workspace(nf_workspace_bytes(&kernel, one.rows, 1));
        nf_arguments arguments = example_arguments(problem, one.rows);
        arguments.x = arguments.dy = {ones.data(), 0, 0};
        arguments.mean = mean.data();
        arguments.rstd = rstd.data();
        arguments.dweight = dweight.data();
        arguments.dbias = dbias.data();
        arguments.workspace = workspace.data();
        ASSERT_EQ(nf_run(&kernel, &arguments), NF_SUCCESS);
        for (int64_t index = 0; index < kHidden; index++) {
            EXPECT_EQ(load_value(dweight.data(), NF_BF16, index), one.bf16) << one.rows;
            EXPECT_EQ(load_value(dbias.data(), NF_F16, index), one.f16) << one.rows;
        }
    }
}

// 8192 rows of 2048 values 1, -1, 1, ..., of which all sums are exact.
TEST(GradientsOfAlternatingSigns, AreExact) {
    constexpr int64_t kWide = 2048;
    constexpr int64_t kRows = 8192;
    const NormProblem problem = backward_problem("weight=f32,bias=f32", kWide);
    const nf_kernel kernel = summing_kernel<kWide>(problem);
    const auto rstd_of_one = static_cast<float>(1 / std::sqrt(1 + 1e-5));
    const std::vector<float> ones(kWide, 1.0f);
    const std::vector<float> rstd(kRows, rstd_of_one);
    const std::vector<float> mean(kRows, 0.0f);
    std::vector<float> x(kWide);
    for (int64_t index = 0; index < kWide; index++) {
        x[index] = index % 2 == 0 ? 1.0f : -1.0f;
    }
    std::vector<float> dweight(kWide), dbias(kWide);
    std::vector<char> workspace(nf_workspace_bytes(&kernel, kRows, 1));
    nf_arguments arguments = example_arguments(problem, kRows);
    arguments.x = {x.data(), 0, 0};
    arguments.dy = {ones.data(), 0, 0};
    arguments.mean = const_cast<float *>(mean.data());
    arguments.rstd = const_cast<float *>(rstd.data());
    arguments.dweight = dweight.data();
    arguments.dbias = dbias.data();
    arguments.workspace = workspace.data();
    ASSERT_EQ(nf_run(&kernel, &arguments), NF_SUCCESS);
    for (int64_t index = 0; index < kWide; index++) {
        ASSERT_EQ(dweight[index], x[index] * 8192 * rstd_of_one);
        ASSERT_EQ(dbias[index], 8192);
    }
    EXPECT_NEAR(dweight[0], 8191.9590, 8192 * 0x1p-24 + 0.00005);
}

TEST(Workspace, HoldsASumForEachBitOfTheSlices) {
    const nf_kernel both = summing_kernel(backward_problem("weight=f16,bias=bf16", 16));
    const nf_kernel one = summing_kernel(backward_problem("weight=f16,bias=none", 16));
    const nf_kernel none = summing_kernel(backward_problem("weight=none,bias=none", 16));
    const int64_t sum = 16 * 4;
    struct {
        int64_t rows, groups, sums;
    } const cases[] = {{0, 1, 0},   {1, 1, 2},  {64, 1, 2},  {65, 1, 3},         {192, 1, 3},
                       {193, 1, 4}, {1, 2, 3},  {1, 3, 3},   {65, 2, 4},         {65, 0, 3},
                       {-1, 1, 0},  {1, -1, 0}, {448, 1, 4}, {INT64_MAX, 1, 59}, {INT64_MAX, INT64_MAX, 64}};
    for (const auto &[rows, groups, sums] : cases) {
        EXPECT_EQ(nf_workspace_bytes(&both, rows, groups), 2 * sums * sum) << rows << ", " << groups;
        EXPECT_EQ(nf_workspace_bytes(&one, rows, groups), sums * sum) << rows << ", " << groups;
        EXPECT_EQ(nf_workspace_bytes(&none, rows, groups), 0) << rows << ", " << groups;
    }
}

TEST(GradientSlice, FitsTheSecondCache) {
    struct {
        const char *fields;
        int64_t hidden, rows;
    } const cases[] = {
        {"", 1, 64},
        {"", 256, 64},  // 8 bytes for each value: 128 KiB
        {"", 257, 32},
        {"", 1024, 16},
        {"", 2048, 8},
        {"", 2049, 8},
        {"", NF_MAX_HIDDEN, 8},
        {",residual=f32", 256, 32},
        {",residual=f16", 204, 64},  // 10 bytes
        {",residual=f16", 205, 32},
        {",residual=f32,sum=f16,output=f16", 512, 64},  // the f16 sum instead of x and residual
        {",residual=f32,sum=f16,output=f16", 513, 32},
    };
    for (const auto &one : cases) {
        const NormProblem problem = backward_problem(std::string("weight=f32,bias=f32") + one.fields, one.hidden);
        EXPECT_EQ(gradient_slice_rows(problem), one.rows) << to_text(problem);
    }
}

}  // namespace
}  // namespace normforge
