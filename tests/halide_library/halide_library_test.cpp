#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "HalideBuffer.h"
#include "layer_norm_384.h"
#include "rms_norm_100.h"
#include "runtime/reference.h"
#include "tests/f32_calls.h"

namespace normforge {
namespace {

using Halide::Runtime::Buffer;

constexpr int kRows = 3;
constexpr float kEpsilon = 1e-5f;

Buffer<float, 1> wave(int hidden, float step) {
    Buffer<float, 1> result(hidden);
    result.for_each_element([&](int i) { result(i) = std::sin(step * static_cast<float>(i)); });
    return result;
}

Buffer<float, 2> waves(int hidden) {
    Buffer<float, 2> result(hidden, kRows);
    result.for_each_element(
        [&](int i, int row) { result(i, row) = 10 + std::sin(static_cast<float>(i * (row + 1))); });
    return result;
}

void expect_right(const NormProblem &problem, const Buffer<float, 2> &x, const Buffer<float, 1> *weight,
                  const Buffer<float, 1> *bias, const Buffer<float, 2> &y) {
    const nf_arguments arguments =
        f32_arguments(kRows, problem.hidden, x.data(), nullptr, weight ? weight->data() : nullptr,
                      bias ? bias->data() : nullptr, kEpsilon);
    const std::vector<double> expected = reference_norm(problem, arguments).y;
    for (int row = 0; row < kRows; row++) {
        for (int i = 0; i < problem.hidden; i++) {
            ASSERT_NEAR(y(i, row), expected[row * problem.hidden + i], 2e-6) << "row " << row << ", value " << i;
        }
    }
}

TEST(HalideLibrary, LayerNormIsRight) {
    auto x = waves(384);
    auto weight = wave(384, 0.1f);
    auto bias = wave(384, 0.7f);
    Buffer<float, 2> y(384, kRows);
    ASSERT_EQ(layer_norm_384(x, weight, bias, kEpsilon, y), 0);
    expect_right(default_problem(NF_LAYER_NORM, 384), x, &weight, &bias, y);
}

TEST(HalideLibrary, RmsNormOfGivenOperandsAndScheduleIsRight) {
    auto x = waves(100);
    auto bias = wave(100, 0.7f);
    Buffer<float, 2> y(100, kRows);
    ASSERT_EQ(rms_norm_100(x, bias, kEpsilon, y), 0);
    expect_right(f32_problem(NF_RMS_NORM, NF_NONE, NF_F32, 100), x, nullptr, &bias, y);
}

}  // namespace
}  // namespace normforge
