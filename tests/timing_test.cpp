#include "autotune/measure/timing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <span>
#include <thread>
#include <tuple>
#include <utility>

namespace normforge {
namespace {

constexpr uintptr_t kPage = 4096;
constexpr uintptr_t kBlock = 2 << 20;

class TimingOperandsTest : public testing::TestWithParam<std::tuple<int64_t, int64_t>> {
protected:
    const int64_t hidden_ = std::get<0>(GetParam());
    const int64_t rows_ = std::get<1>(GetParam());
    const TimingOperands operands_{default_problem(NF_LAYER_NORM, hidden_), rows_};
    const nf_arguments &arguments_ = operands_.arguments();
};

TEST_P(TimingOperandsTest, RowsAreWithoutGaps) {
    EXPECT_EQ(arguments_.rows, rows_);
    EXPECT_EQ(arguments_.x_row_stride, hidden_);
    EXPECT_EQ(arguments_.y_row_stride, hidden_);
    EXPECT_GT(arguments_.epsilon, 0);
}

TEST_P(TimingOperandsTest, OperandsLiePageAfterPageFromAFixedAlignment) {
    const auto pages = [](int64_t values) { return (values * sizeof(float) + kPage - 1) / kPage * kPage; };
    const auto x = reinterpret_cast<uintptr_t>(arguments_.x);
    EXPECT_EQ(x % kBlock, 0u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(arguments_.y), x + pages(rows_ * hidden_));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(arguments_.weight), x + 2 * pages(rows_ * hidden_));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(arguments_.bias), x + 2 * pages(rows_ * hidden_) + pages(hidden_));
}

// Zeros and denormals may take another time, and pages never written may share one of zeros.
TEST_P(TimingOperandsTest, AllValuesAreNormalNumbers) {
    const auto expect_normal = [](const char *name, const void *operand, int64_t count) {
        const std::span values(static_cast<const float *>(operand), static_cast<size_t>(count));
        EXPECT_TRUE(std::ranges::all_of(values, [](float value) { return std::isnormal(value); })) << name;
        EXPECT_TRUE(count == 1 || std::ranges::adjacent_find(values, std::not_equal_to()) != values.end()) << name;
    };
    expect_normal("x", arguments_.x, rows_ * hidden_);
    expect_normal("y", arguments_.y, rows_ * hidden_);
    expect_normal("weight", arguments_.weight, hidden_);
    expect_normal("bias", arguments_.bias, hidden_);
}

std::string name_of_case(const testing::TestParamInfo<TimingOperandsTest::ParamType> &info) {
    return std::to_string(std::get<0>(info.param)) + "_" + std::to_string(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(HiddenAndRows, TimingOperandsTest,
                         testing::Combine(testing::Values(1, 7, 1024, 4095), testing::Values(1, 4, 100)),
                         name_of_case);

TEST(TimingOperands, OutliveAMove) {
    TimingOperands first(default_problem(NF_RMS_NORM, 64), 3);
    const void *x = first.arguments().x;
    const TimingOperands second = std::move(first);
    EXPECT_EQ(second.arguments().x, x);
    EXPECT_TRUE(std::isnormal(*static_cast<const float *>(x)));
}

int64_t kernel_calls;
const nf_arguments *kernel_arguments;

void counting_kernel(const nf_arguments *arguments) {
    kernel_calls++;
    kernel_arguments = arguments;
}

void slow_kernel(const nf_arguments *) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

TEST(TimeCalls, CallsTheKernelThatOften) {
    const TimingOperands operands(default_problem(NF_LAYER_NORM, 64), 2);
    kernel_calls = 0;
    EXPECT_GE(time_calls(counting_kernel, operands.arguments(), 17), 0);
    EXPECT_EQ(kernel_calls, 17);
    EXPECT_EQ(kernel_arguments, &operands.arguments());
}

TEST(TimeCalls, IsOneCallsTime) {
    const TimingOperands operands(default_problem(NF_LAYER_NORM, 64), 2);
    EXPECT_GE(time_calls(slow_kernel, operands.arguments(), 3), 2e6);  // a sleep may be longer, never shorter
}

TEST(CallsFor, IsAtLeastOne) {
    const TimingOperands operands(default_problem(NF_LAYER_NORM, 64), 2);
    EXPECT_EQ(calls_for(slow_kernel, operands.arguments(), 1), 1);
}

// The first call is slow, for whatever reason; a call of nothing takes no 0.1 s.
TEST(CallsFor, FillsTheTimeWithFastCalls) {
    const TimingOperands operands(default_problem(NF_LAYER_NORM, 64), 2);
    const auto slow_at_first = [](const nf_arguments *arguments) {
        static bool first = true;
        if (std::exchange(first, false)) {
            std::this_thread::sleep_for(std::chrono::milliseconds(120));
        }
        counting_kernel(arguments);
    };
    EXPECT_GT(calls_for(slow_at_first, operands.arguments(), 1e8), 1);
}

}  // namespace
}  // namespace normforge
