// Reports of wrong gradients, against the heuristic's kernels.

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <numeric>
#include <variant>

#include "tests/kernel_test.h"

namespace normforge {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

class GradientReports : public KernelTest<std::monostate> {};

// flagos-ai/FlagGems#5392, apple/coreai-torch#55: of three axes the first was taken for the rows, and gradients of
// that many values were written.
TEST_P(GradientReports, RowsAreThoseOfAllOtherAxes) {
    const std::array<int64_t, 3> shape = {2, 3, 4}, strides = {12, 4, 1};
    const int64_t *const tensor = strides.data();
    nf_folded_axes axes{};
    nf_folded_strides folded{};
    ASSERT_EQ(nf_fold_axes(3, shape.data(), 1, 1, &tensor, &axes, &folded), NF_SUCCESS);
    ASSERT_EQ(axes.rows * axes.groups, 6);
    ASSERT_EQ(axes.hidden, 4);

    std::vector<float> x(24), y(24), mean(6), rstd(6), dx(24);
    const std::vector<float> ones(24, 1.0f);
    std::iota(x.begin(), x.end(), 0.0f);
    NormProblem problem = parse_problem("op=layer_norm,dtype=f32,saved_statistics=yes,hidden=4");
    nf_arguments arguments{};
    arguments.rows = axes.rows;
    arguments.groups = axes.groups;
    arguments.epsilon = 1e-5f;
    arguments.x = {x.data(), folded.row_stride, folded.group_stride};
    arguments.weight = arguments.bias = ones.data();
    arguments.y = {y.data(), folded.row_stride, folded.group_stride};
    arguments.mean = mean.data();
    arguments.rstd = rstd.data();
    ASSERT_EQ(nf_run(&kernel(problem), &arguments), NF_SUCCESS);

    problem.pass = NF_BACKWARD;
    // One page further nothing can be written.
    const GuardedBytes weight_gradient(4 * sizeof(float)), bias_gradient(4 * sizeof(float));
    auto *dweight = reinterpret_cast<float *>(weight_gradient.bytes().data());
    auto *dbias = reinterpret_cast<float *>(bias_gradient.bytes().data());
    const int64_t bytes = nf_workspace_bytes(&kernel(problem), axes.rows, axes.groups);
    std::vector<float> workspace(static_cast<size_t>(bytes) / sizeof(float), kNan);
    arguments.dy = {ones.data(), folded.row_stride, folded.group_stride};
    arguments.dx = {dx.data(), folded.row_stride, folded.group_stride};
    arguments.dweight = dweight;
    arguments.dbias = dbias;
    arguments.workspace = workspace.data();
    ASSERT_EQ(nf_run(&kernel(problem), &arguments), NF_SUCCESS);
    constexpr double kWeightGradient[] = {-8.049813, -2.683271, 2.683271, 8.049813};
    for (int64_t i = 0; i < 4; i++) {
        EXPECT_EQ(dbias[i], 6);
        EXPECT_NEAR(dweight[i], kWeightGradient[i], 1e-6 * std::fabs(kWeightGradient[i]));
    }
    for (float value : dx) {
        EXPECT_NEAR(value, 0, 1e-6);
    }
}

// The same reports: both of two axes are normalised.
TEST_P(GradientReports, TwoAxesAreOneRow) {
    const std::array<int64_t, 2> shape = {2, 3}, strides = {3, 1};
    const int64_t *const tensor = strides.data();
    nf_folded_axes axes{};
    nf_folded_strides folded{};
    ASSERT_EQ(nf_fold_axes(2, shape.data(), 2, 1, &tensor, &axes, &folded), NF_SUCCESS);
    ASSERT_EQ(axes.rows * axes.groups, 1);
    OperandValues values;
    of(values, OperandId::x) = {1, 2, 3, 4, 5, 6};
    of(values, OperandId::epsilon) = {1e-5f};
    NormProblem problem = default_problem(NF_LAYER_NORM, axes.hidden);
    problem.weight = problem.bias = NF_NONE;
    const std::vector<float> y = of(run(problem, values), OperandId::y);
    EXPECT_NEAR(y.front(), -1.463848, 1e-6);
    EXPECT_NEAR(y.back(), 1.463848, 1e-6);
}

// meta-pytorch/tritonbench#1266, ml-explore/mlx#3630, #2340, NVIDIA/apex#1184, flashinfer-ai/flashinfer#3607,
// sonots/cumo#423, Dao-AILab/flash-attention#781: partial sums were read before they were written, so that
// gradients changed from run to run.
TEST_P(GradientReports, SumsOverManyRowsAreTheSameInEveryRun) {
    constexpr int64_t kRows = 8192;
    constexpr int64_t kHidden = 2048;
    constexpr int kRuns = 10;
    const NormProblem problem =
        parse_problem("op=layer_norm,pass=backward,dtype=f32,saved_statistics=yes,hidden=2048");
    const auto exact_rstd = static_cast<float>(1 / std::sqrt(1 + 1e-5));
    std::vector<float> x(kHidden), dx(kRows * kHidden, kNan);
    for (int64_t i = 0; i < kHidden; i++) {
        x[i] = i % 2 == 0 ? 1 : -1;
    }
    const std::vector<float> ones(kHidden, 1.0f), mean(kRows, 0.0f), rstd(kRows, exact_rstd);
    std::vector<float> workspace(nf_workspace_bytes(&kernel(problem), kRows, 1) / sizeof(float));
    nf_arguments arguments{};
    arguments.rows = kRows;
    arguments.x = {x.data(), 0, 0};
    arguments.dy = {ones.data(), 0, 0};
    arguments.weight = ones.data();
    arguments.mean = const_cast<float *>(mean.data());
    arguments.rstd = const_cast<float *>(rstd.data());
    arguments.dx = {dx.data(), kHidden, 0};
    arguments.workspace = workspace.data();
    std::vector<float> first;
    for (int round = 0; round < kRuns; round++) {
        std::vector<float> dweight(kHidden, kNan), dbias(kHidden, kNan);
        std::ranges::fill(workspace, kNan);
        arguments.dweight = dweight.data();
        arguments.dbias = dbias.data();
        ASSERT_EQ(nf_run(&kernel(problem), &arguments), NF_SUCCESS);
        first = round == 0 ? dweight : first;
        ASSERT_EQ(dweight, first) << "in run " << round;
        ASSERT_EQ(dbias, std::vector<float>(kHidden, kRows));
    }
    // Slices of at most 64 rows are added up one after the other, their 2^7 or more equal sums in pairs, which
    // rounds nothing. Each term is rounded too.
    constexpr double kRounding = 65 * 0x1p-24 * kRows;
    for (int64_t i = 0; i < kHidden; i++) {
        ASSERT_NEAR(first[i], i % 2 == 0 ? 8191.9590 : -8191.9590, kRounding) << "at " << i;
    }
    EXPECT_EQ(std::ranges::count(dx, 0.0f), kRows * kHidden);
}

// ml-explore/mlx#3630: a row of zeros had weight gradients of 1e20.
TEST_P(GradientReports, RowOfZerosHasNoWeightGradient) {
    OperandValues values;
    of(values, OperandId::x).assign(4, 0.0f);
    of(values, OperandId::weight).assign(4, 1.0f);
    of(values, OperandId::bias).assign(4, 0.0f);
    of(values, OperandId::dy).assign(4, -1.0f);
    of(values, OperandId::epsilon) = {1e-5f};
    const OperandValues written =
        run_backward(parse_problem("op=layer_norm,pass=backward,dtype=f32,saved_statistics=yes,hidden=4"), values);
    EXPECT_EQ(of(written, OperandId::dweight), std::vector<float>(4, 0.0f));
    EXPECT_EQ(of(written, OperandId::dbias), std::vector<float>(4, -1.0f));
    EXPECT_EQ(of(written, OperandId::dx), std::vector<float>(4, 0.0f));
}

// linkedin/Liger-Kernel#950, pytorch/helion#2273, #3595: sums of 16 bits stick where their last place exceeds a
// term.
TEST_P(GradientReports, SumsOf16BitGradientsDoNotStick) {
    constexpr int64_t kRows = 4096;
    for (const char *type : {"bf16", "f16"}) {
        SCOPED_TRACE(type);
        const NormProblem problem =
            parse_problem(std::string("op=layer_norm,pass=backward,saved_statistics=yes,hidden=8,dtype=") + type);
        OperandValues values;
        for (int64_t index = 0; index < kRows * 8; index++) {
            of(values, OperandId::x).push_back(index % 2 == 0 ? 1 : -1);
        }
        of(values, OperandId::dy).assign(kRows * 8, 1.0f);
        of(values, OperandId::weight).assign(8, 1.0f);
        of(values, OperandId::bias).assign(8, 0.0f);
        of(values, OperandId::epsilon) = {1e-5f};
        const OperandValues written = run_backward(problem, values);
        EXPECT_EQ(of(written, OperandId::dbias), std::vector<float>(8, kRows));
        // 4096 times 0.999995, in steps of 2 or more.
        EXPECT_EQ(of(written, OperandId::dweight),
                  (std::vector<float>{kRows, -kRows, kRows, -kRows, kRows, -kRows, kRows, -kRows}));
    }
}

// vllm-project/vllm#29810, #53203, InternLM/lmdeploy#2842: 1 + weight was added in bf16, which has no 1 + 2^-9.
TEST_P(GradientReports, OneIsAddedToTheWeightInF32) {
    OperandValues values;
    of(values, OperandId::x) = {1, -1};
    of(values, OperandId::weight) = {0x1p-9f, 0x1p-9f};
    of(values, OperandId::dy) = {1, 1};
    of(values, OperandId::epsilon) = {0};
    const OperandValues written = run_backward(
        parse_problem(
            "op=rms_norm,pass=backward,dtype=f32,weight=bf16,weight_offset=1,saved_statistics=yes,hidden=2"),
        values);
    EXPECT_EQ(of(written, OperandId::dx), (std::vector<float>{1.001953125, 1.001953125}));
}

INSTANTIATE_TEST_SUITE_P(All, GradientReports,
                         testing::Combine(testing::ValuesIn(kMachines), testing::Values(std::monostate{})),
                         [](const auto &test) { return std::string(std::get<0>(test.param).name); });

}  // namespace
}  // namespace normforge
