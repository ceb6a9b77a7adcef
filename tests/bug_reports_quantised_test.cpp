// Reports of quantised outputs that were wrong, against the heuristic's kernels.

#include <gtest/gtest.h>

#include "tests/bug_report.h"

namespace normforge {
namespace {

constexpr const char *kScaleOfZeros =
    "huggingface/kernels-community#681, huggingface/kernels-community#680, InternLM/lmdeploy#3652";
constexpr const char *kI8Rounding = "ROCm/aiter#4637, uxlfoundation/oneDNN#5879, microsoft/onnxruntime#3442";
constexpr const char *kUnquantised =
    "NVIDIA/TensorRT-LLM#14464, vllm-project/vllm#37838, flashinfer-ai/flashinfer#3148";

const std::vector<double> kZerosAndOthers = {0, 0, 0, 0, 0, 0, 0, 0, 1, -2, 3, -4, .5, 0, 2.5, -3.5};

// 336 of f8e4m3 and 63.5 of i8 lie between two values: f32's rounding of the quotient decides for one of them.
const BugReport kReports[] = {
    {"f8_row_of_zeros",
     kScaleOfZeros,
     {.problem = "op=rms_norm,dtype=f32,weight=none,output=f8e4m3,scale=per_row,hidden=8",
      .rows = 2,
      .epsilon = 1e-6f,
      .x = kZerosAndOthers},
     {0, 0, 0, 0, 0, 0, 0, 0, 112, -224, 336, -448, 56, 0, 288, -384}},
    // A scale of zeros is f32's smallest normal value: not 0, and finite values divided by it are finite.
    {"f8_scales_of_zeros",
     kScaleOfZeros,
     {.problem = "op=rms_norm,dtype=f32,weight=none,output=f8e4m3,scale=per_row,hidden=8",
      .rows = 2,
      .epsilon = 1e-6f,
      .x = kZerosAndOthers},
     {0x1p-126, 0.003616926},
     OperandId::scales},

    {"i8_rows",
     kI8Rounding,
     {.problem = "op=rms_norm,dtype=f32,weight=none,output=i8,scale=per_row,hidden=8",
      .rows = 2,
      .epsilon = 1e-6f,
      .x = kZerosAndOthers},
     {0, 0, 0, 0, 0, 0, 0, 0, 32, -63.5, 95, -127, 16, 0, 79, -111}},
    // Halves, and values beyond both ends of i8, in a row's vectors and behind them; x is normalised to 1.
    {"i8_ties_and_ends",
     kI8Rounding,
     {.problem = "op=rms_norm,dtype=f32,output=i8,scale=static,hidden=79",
      .scale = 1,
      .x = {1},
      .weight = {127.6, -127.6, 126.5, 125.5, 0.5, 1.5, -128.5}},
     {127, -128, 126, 126, 0, 2, -128}},

    {"f8_of_the_value",
     kUnquantised,
     {.problem = "op=rms_norm,dtype=f32,weight=none,output=f8e4m3,scale=static,hidden=2",
      .scale = 0x1p-7f,
      .x = {1.0655, 0.929897666}},
     {144, 120}},
    {"f8_of_the_bf16_value",
     kUnquantised,
     {.problem = "op=rms_norm,dtype=f32,weight=none,output=f8e4m3,scale=static,unquantised=bf16,hidden=2",
      .scale = 0x1p-7f,
      .x = {1.0655, 0.929897666}},
     {128, 120}},
};

TEST_P(BugReports, HaveTheRightValues) {
    expect_right_values();
}

INSTANTIATE_TEST_SUITE_P(Quantised, BugReports,
                         testing::Combine(testing::ValuesIn(kMachines), testing::ValuesIn(kReports)),
                         BugReports::name_of);

}  // namespace
}  // namespace normforge
