// Reports of norms that round, overflow or stick in the values' own type, against the heuristic's kernels. Reports
// on f32 rows alone are in tests/pinned_rows.h.

#include <gtest/gtest.h>

#include "tests/bug_report.h"

namespace normforge {
namespace {

constexpr const char *kF16Sums = "nntrainer/nntrainer#3935, xlite-dev/LeetCUDA#335, pytorch/executorch#18786, "
                                 "openvinotoolkit/openvino#36504";
constexpr const char *kDefaultEpsilon = "pytorch/pytorch#189581, pytorch/pytorch#155527";
constexpr const char *kRoundingOrder = "NVIDIA/TransformerEngine#1132, vllm-project/vllm-xpu-kernels#534, "
                                       "amd/IRON#139, huggingface/transformers#30236";
constexpr const char *kWeightAndOne = "vllm-project/vllm#29810, vllm-project/vllm#53203, InternLM/lmdeploy#2842";
constexpr const char *kStickingSums =
    "tenstorrent/tt-metal#49600, tenstorrent/tt-metal#23599, Xilinx/mlir-air#1679, pytorch/pytorch#143182";
constexpr const char *kMixedTypes = "torch-spyre/torch-spyre#1980, tenstorrent/tt-metal#49902, "
                                    "sgl-project/sglang#32807, vllm-project/vllm#44694";
constexpr const char *kRoundedSum = "vllm-project/vllm#52104, vllm-project/vllm-omni#6878, ROCm/aiter#2586";
constexpr const char *kOverflownSum = "microsoft/onnxruntime#29043, microsoft/onnxruntime#29034";

const std::vector<double> kSevenDigits = {1, 2, 3, -5, 0.5, 0.25, -0.75, 4};
const std::vector<double> kTinyResidual = {0x1p-8, 0x1p-9, -0x1p-9, 0};
const std::vector<double> kLargeInF16 = {40000, -40000, 20000, -20000};

const BugReport kReports[] = {
    {"f16_squares",
     kF16Sums,
     {.problem = "op=rms_norm,dtype=f16,weight=none,hidden=64", .epsilon = 1e-6f, .x = {300, -300}},
     {1, -1}},
    // No square is beyond f16, but the sum is.
    {"f16_sum_of_squares",
     kF16Sums,
     {.problem = "op=rms_norm,dtype=f16,weight=none,hidden=32768", .epsilon = 1e-6f, .x = {2, 2.25, 2.5, 2.75, 3}},
     {0.792125, 0.891141, 0.990157, 1.089172, 1.188188}},

    {"epsilon_1e_6",
     kDefaultEpsilon,
     {.problem = "op=rms_norm,dtype=bf16,output=f32,weight=none,hidden=32",
      .epsilon = 1e-6f,
      .x = {0.0625, -0.0625}},
     {0.9998720, -0.9998720}},
    {"epsilon_of_f32",
     kDefaultEpsilon,
     {.problem = "op=rms_norm,dtype=bf16,output=f32,weight=none,hidden=32",
      .epsilon = 0x1p-23f,
      .x = {0.0625, -0.0625}},
     {0.9999847, -0.9999847}},
    {"epsilon_of_bf16",
     kDefaultEpsilon,
     {.problem = "op=rms_norm,dtype=bf16,output=f32,weight=none,hidden=32",
      .epsilon = 0x1p-7f,
      .x = {0.0625, -0.0625}},
     {0.5773503, -0.5773503}},

    {"rounded_once",
     kRoundingOrder,
     {.problem = "op=rms_norm,dtype=bf16,hidden=8", .epsilon = 1e-6f, .x = kSevenDigits, .weight = {1.9921875}},
     {0.75390625, 1.5078125, 2.265625, -3.765625, 0.376953125, 0.1884765625, -0.56640625, 3.015625}},
    {"rounded_before_weight",
     kRoundingOrder,
     {.problem = "op=rms_norm,dtype=bf16,normalised=bf16,hidden=8",
      .epsilon = 1e-6f,
      .x = kSevenDigits,
      .weight = {1.9921875}},
     {0.75390625, 1.5078125, 2.25, -3.765625, 0.376953125, 0.1884765625, -0.5625, 3.015625}},
    // 1.140625 with an rstd of bf16.
    {"rstd_not_rounded",
     kRoundingOrder,
     {.problem = "op=rms_norm,dtype=bf16,hidden=8", .epsilon = 1e-6f, .x = kSevenDigits, .weight = {1}},
     {0.37890625, 0.7578125, 1.1328125, -1.890625, 0.189453125, 0.0947265625, -0.283203125, 1.515625}},

    {"small_weight_and_one",
     kWeightAndOne,
     {.problem = "op=rms_norm,dtype=bf16,output=f32,weight_offset=1,hidden=4",
      .epsilon = 1e-6f,
      .x = {256, -128, 64, 32},
      .weight = {0x1p-9}},
     {1.7354437 * 1.001953125, -1.7354437 / 2 * 1.001953125, 1.7354437 / 4 * 1.001953125,
      1.7354437 / 8 * 1.001953125}},
    {"weight_and_one",
     kWeightAndOne,
     {.problem = "op=rms_norm,dtype=bf16,output=f32,weight_offset=1,hidden=4",
      .epsilon = 1e-6f,
      .x = {256, -128, 64, 32},
      .weight = {15.8125}},
     {29.177147, -29.177147 / 2, 29.177147 / 4, 29.177147 / 8}},

    {"bf16_ones",
     kStickingSums,
     {.problem = "op=rms_norm,dtype=bf16,output=f32,weight=none,hidden=1024", .epsilon = 1e-6f, .x = {1}},
     {0.9999995}},
    {"f16_ones",
     kStickingSums,
     {.problem = "op=rms_norm,dtype=f16,output=f32,weight=none,hidden=8192", .epsilon = 1e-6f, .x = {1}},
     {0.9999995}},

    {"no_weight_and_no_bias",
     kMixedTypes,
     {.problem = "op=rms_norm,dtype=bf16,weight=none,hidden=32", .epsilon = 1e-6f, .x = {1}},
     {0.9999995}},
    {"f32_weight",
     kMixedTypes,
     {.problem = "op=rms_norm,dtype=bf16,weight=f32,hidden=32",
      .epsilon = 1e-6f,
      .x = {1},
      .weight = {1, 2, 3, 4, 5, 6, 7, 8}},
     {0.9999995, 1.999999, 2.9999985, 3.999998, 4.9999975, 5.999997, 6.9999965, 7.999996}},
    {"f32_bias",
     kMixedTypes,
     {.problem = "op=rms_norm,dtype=bf16,weight=none,bias=f32,hidden=32",
      .epsilon = 1e-6f,
      .x = {1},
      .bias = {10, 20, 30, 40}},
     {10.9999995, 20.9999995, 30.9999995, 40.9999995}},
    {"f32_weight_and_f16_bias",
     kMixedTypes,
     {.problem = "op=rms_norm,dtype=bf16,weight=f32,bias=f16,hidden=32",
      .epsilon = 1e-6f,
      .x = {1},
      .weight = {1, 2, 3, 4},
      .bias = {10, 20, 30, 40}},
     {10.9999995, 21.999999, 32.9999985, 43.999998}},

    {"sum_not_rounded",
     kRoundedSum,
     {.problem = "op=layer_norm,dtype=bf16,weight=none,bias=none,residual=bf16,sum=bf16,hidden=4",
      .epsilon = 1e-12f,
      .x = {1},
      .residual = kTinyResidual},
     {1.3416406, 0.4472135, -1.3416406, -0.4472135}},
    {"sum_rounded_first",
     kRoundedSum,
     {.problem = "op=layer_norm,dtype=bf16,weight=none,bias=none,residual=bf16,sum=bf16,statistics=bf16,hidden=4",
      .epsilon = 1e-12f,
      .x = {1},
      .residual = kTinyResidual},
     {0}},

    {"f16_sum_overflows",
     kOverflownSum,
     {.problem = "op=rms_norm,dtype=f16,weight=none,residual=f16,sum=f16,hidden=4",
      .epsilon = 1e-6f,
      .x = kLargeInF16,
      .residual = kLargeInF16},
     {1.264911, -1.264911, 0.632456, -0.632456}},
    {"stored_f16_sum_overflows",
     kOverflownSum,
     {.problem = "op=rms_norm,dtype=f16,weight=none,residual=f16,sum=f16,hidden=4",
      .epsilon = 1e-6f,
      .x = kLargeInF16,
      .residual = kLargeInF16},
     {HUGE_VAL, -HUGE_VAL, 40000, -40000},
     OperandId::sum},
    {"statistics_of_overflown_f16_sum",
     kOverflownSum,
     {.problem = "op=rms_norm,dtype=f16,weight=none,residual=f16,sum=f16,statistics=f16,hidden=4",
      .epsilon = 1e-6f,
      .x = kLargeInF16,
      .residual = kLargeInF16},
     {NAN, NAN, 0, 0}},
};

TEST_P(BugReports, HaveTheRightValues) {
    expect_right_values();
}

INSTANTIATE_TEST_SUITE_P(All, BugReports,
                         testing::Combine(testing::ValuesIn(kMachines), testing::ValuesIn(kReports)),
                         BugReports::name_of);

}  // namespace
}  // namespace normforge
