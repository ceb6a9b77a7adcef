#include <cmath>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "tests/reference_call.h"

// What each field of a problem makes of the oracle's forward pass.

namespace normforge {
namespace {

std::vector<double> repeated(const std::vector<double> &values, int64_t count) {
    std::vector<double> all;
    for (int64_t index = 0; index < count; index++) {
        all.push_back(values[index % values.size()]);
    }
    return all;
}

// A call and one of its results, without the digits that seven do not show.
struct PinnedCall {
    std::string name;
    ReferenceCall call;
    std::vector<double> ReferenceNorm::*result;
    std::vector<double> expected;  // repeated to the result's end
    double tolerance = 1e-7;       // of values above 1 relative
};

class EachPinnedCall : public testing::TestWithParam<PinnedCall> {};

TEST_P(EachPinnedCall, HasTheseValues) {
    const ReferenceNorm reference = evaluate(GetParam().call);
    const std::vector<double> &result = reference.*GetParam().result;
    ASSERT_FALSE(result.empty());
    const std::vector<double> expected = repeated(GetParam().expected, static_cast<int64_t>(result.size()));
    for (size_t index = 0; index < result.size(); index++) {
        if (std::isfinite(expected[index])) {
            EXPECT_NEAR(result[index], expected[index],
                        GetParam().tolerance * std::max(1.0, std::fabs(expected[index])))
                << "at " << index;
        } else {
            EXPECT_EQ(std::isnan(result[index]), std::isnan(expected[index])) << "at " << index;
        }
    }
}

const std::vector<double> kTinyResidual = {1.0 / 256, 1.0 / 512, -1.0 / 512, 0};

INSTANTIATE_TEST_SUITE_P(
    All, EachPinnedCall,
    testing::ValuesIn(std::vector<PinnedCall>{
        // Rows that overflow, stick or lose digits where sums are in their own type.
        {"f16_squares",
         {.problem = "op=rms_norm,dtype=f16,weight=none,hidden=64",
          .epsilon = 1e-6f,
          .x = repeated({300, -300}, 64)},
         &ReferenceNorm::y,
         {1, -1}},
        {"f16_sum_of_squares",
         {.problem = "op=rms_norm,dtype=f16,weight=none,hidden=32768",
          .epsilon = 1e-6f,
          .x = repeated({2, 2.25, 2.5, 2.75, 3}, 32768)},
         &ReferenceNorm::y,
         {0.792125, 0.891141, 0.990157, 1.089172, 1.188188},
         5e-7},
        {"bf16_ones",
         {.problem = "op=rms_norm,dtype=bf16,weight=none,hidden=1024", .epsilon = 1e-6f, .x = repeated({1}, 1024)},
         &ReferenceNorm::y,
         {0.9999995}},
        {"f16_ones",
         {.problem = "op=rms_norm,dtype=f16,weight=none,hidden=8192", .epsilon = 1e-6f, .x = repeated({1}, 8192)},
         &ReferenceNorm::y,
         {0.9999995}},
        // Epsilon is the given one, whatever the type.
        {"epsilon_1e_6",
         {.problem = "op=rms_norm,dtype=bf16,weight=none,hidden=32",
          .epsilon = 1e-6f,
          .x = repeated({0.0625, -0.0625}, 32)},
         &ReferenceNorm::y,
         {0.9998720, -0.9998720}},
        {"epsilon_of_f32",
         {.problem = "op=rms_norm,dtype=bf16,weight=none,hidden=32",
          .epsilon = 0x1p-23f,
          .x = repeated({0.0625, -0.0625}, 32)},
         &ReferenceNorm::y,
         {0.9999847, -0.9999847}},
        {"epsilon_of_bf16",
         {.problem = "op=rms_norm,dtype=bf16,weight=none,hidden=32",
          .epsilon = 0x1p-7f,
          .x = repeated({0.0625, -0.0625}, 32)},
         &ReferenceNorm::y,
         {0.5773503, -0.5773503}},
        // sqrt(3^2 + 16) and 3 + 16.
        {"epsilon_in_root",
         {.problem = "op=rms_norm,dtype=f32,weight=none,hidden=2", .epsilon = 16, .x = {3, -3}},
         &ReferenceNorm::y,
         {0.6, -0.6},
         1e-15},
        {"epsilon_on_deviation",
         {.problem = "op=rms_norm,dtype=f32,weight=none,epsilon_place=on_deviation,hidden=2",
          .epsilon = 16,
          .x = {3, -3}},
         &ReferenceNorm::y,
         {3.0 / 19, -3.0 / 19},
         1e-15},
        {"epsilon_on_deviation_from_mean",
         {.problem = "op=layer_norm,dtype=f32,weight=none,bias=none,epsilon_place=on_deviation,hidden=2",
          .epsilon = 16,
          .x = {103, 97}},
         &ReferenceNorm::y,
         {3.0 / 19, -3.0 / 19},
         1e-15},
        // 1 + weight in f32, where bf16 has no such value.
        {"small_weight_and_one",
         {.problem = "op=rms_norm,dtype=bf16,weight_offset=1,hidden=1", .x = {4}, .weight = {0x1p-9}},
         &ReferenceNorm::y,
         {1.001953125},
         0},
        {"weight_and_one",
         {.problem = "op=rms_norm,dtype=bf16,weight_offset=1,hidden=4",
          .epsilon = 1e-6f,
          .x = {256, -128, 64, 32},
          .weight = {15.8125, 15.8125, 15.8125, 15.8125}},
         &ReferenceNorm::y,
         {29.177147, -29.177147 / 2, 29.177147 / 4, 29.177147 / 8},
         2e-8},
        // f32 has no 1 + 2^-25 either, and the sum is one of f32.
        {"f32_weight_and_one",
         {.problem = "op=rms_norm,dtype=f32,weight_offset=1,hidden=1", .x = {4}, .weight = {0x1p-25}},
         &ReferenceNorm::y,
         {1},
         0},
        // Operands of other types than x.
        {"f32_weight_of_bf16",
         {.problem = "op=rms_norm,dtype=bf16,weight=f32,hidden=8",
          .epsilon = 1e-6f,
          .x = repeated({1}, 8),
          .weight = {1, 2, 3, 4, 5, 6, 7, 8}},
         &ReferenceNorm::y,
         {0.9999995, 1.999999, 2.9999985, 3.999998, 4.9999975, 5.999997, 6.9999965, 7.999996}},
        {"four_types",
         {.problem = "op=rms_norm,dtype=f16,weight=bf16,bias=f32,residual=f32,hidden=2",
          .x = {1, -2},
          .residual = {2, -1},
          .weight = {2, 0x1p100},
          .bias = {0x1p-20, 1}},
         &ReferenceNorm::y,
         {2 + 0x1p-20, -0x1p100},
         0},
        // The residual is added in f32.
        {"sum_in_f32",
         {.problem = "op=layer_norm,dtype=bf16,weight=none,bias=none,residual=bf16,hidden=4",
          .epsilon = 1e-12f,
          .x = {1, 1, 1, 1},
          .residual = kTinyResidual},
         &ReferenceNorm::y,
         {1.3416406, 0.4472135, -1.3416406, -0.4472135},
         2e-7},
        {"sum_in_f32_stored_in_bf16",
         {.problem = "op=layer_norm,dtype=bf16,weight=none,bias=none,residual=bf16,sum=bf16,hidden=4",
          .epsilon = 1e-12f,
          .x = {1, 1, 1, 1},
          .residual = kTinyResidual},
         &ReferenceNorm::h,
         {1.00390625, 1.001953125, 0.998046875, 1},
         0},
        {"statistics_of_bf16",
         {.problem = "op=layer_norm,dtype=bf16,weight=none,bias=none,residual=bf16,statistics=bf16,hidden=4",
          .epsilon = 1e-12f,
          .x = {1, 1, 1, 1},
          .residual = kTinyResidual},
         &ReferenceNorm::h,
         {1},
         0},
        {"sum_of_f32_values",
         {.problem = "op=rms_norm,dtype=f32,weight=none,residual=f32,hidden=2",
          .epsilon = 1,
          .x = {1, 1},
          .residual = {0x1p-24, 0x1.8p-24}},
         &ReferenceNorm::h,
         {1, 1 + 0x1p-23},
         0},
        {"sum_beyond_f16",
         {.problem = "op=rms_norm,dtype=f16,weight=none,residual=f16,hidden=4",
          .epsilon = 1e-6f,
          .x = {40000, -40000, 20000, -20000},
          .residual = {40000, -40000, 20000, -20000}},
         &ReferenceNorm::y,
         {1.264911, -1.264911, 0.632456, -0.632456},
         5e-7},
        {"statistics_beyond_f16",
         {.problem = "op=rms_norm,dtype=f16,weight=none,residual=f16,sum=f16,statistics=f16,hidden=4",
          .epsilon = 1e-6f,
          .x = {40000, -40000, 20000, -20000},
          .residual = {40000, -40000, 20000, -20000}},
         &ReferenceNorm::y,
         {NAN, NAN, 0, 0},
         0},
        // What a row leaves behind for backward.
        {"mean",
         {.problem = "op=layer_norm,dtype=f32,weight=none,bias=none,hidden=4",
          .rows = 2,
          .x = {1, 2, 3, 4, 5, 5, 5, 7}},
         &ReferenceNorm::mean,
         {2.5, 5.5},
         0},
        {"rstd",
         {.problem = "op=layer_norm,dtype=f32,weight=none,bias=none,hidden=4", .epsilon = 2.75, .x = {1, 2, 3, 4}},
         &ReferenceNorm::rstd,
         {0.5},
         0},
        {"no_mean",
         {.problem = "op=rms_norm,dtype=f32,weight=none,hidden=4", .x = {1, 2, 3, 4}},
         &ReferenceNorm::mean,
         {0},
         0},
        {"normalised",
         {.problem = "op=rms_norm,dtype=f16,normalised=f16,hidden=2",
          .epsilon = 16,
          .x = {3, -3},
          .weight = {5, 5}},
         &ReferenceNorm::normalised,
         {0.6, -0.6},
         1e-15},
    }),
    [](const auto &test) { return test.param.name; });

TEST(Normalised, IsRoundedBeforeTheWeightWhereAsked) {
    const std::string fields = "op=rms_norm,dtype=bf16,hidden=8";
    ReferenceCall call = {
        .epsilon = 1e-6f, .x = {1, 2, 3, -5, 0.5, 0.25, -0.75, 4}, .weight = std::vector<double>(8, 1.9921875)};
    call.problem = fields;
    std::vector<double> y = evaluate(call).y;
    EXPECT_EQ(round_to(NF_BF16, y[2]), 2.265625);
    EXPECT_EQ(round_to(NF_BF16, y[6]), -0.56640625);
    call.problem = fields + ",normalised=bf16";
    y = evaluate(call).y;
    EXPECT_EQ(y[2], 1.1328125 * 1.9921875);
    EXPECT_EQ(round_to(NF_BF16, y[2]), 2.25);
    EXPECT_EQ(round_to(NF_BF16, y[6]), -0.5625);
}

}  // namespace
}  // namespace normforge
