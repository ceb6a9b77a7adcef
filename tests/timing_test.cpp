#include "autotune/measure/timing.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "autotune/measure/operand_layout.h"
#include "autotune/measure/single_kernel.h"
#include "runtime/float_types.h"
#include "runtime/user_error.h"
#include "tests/ranged_call.h"

namespace normforge {
namespace {

constexpr uintptr_t kPage = 4096;
constexpr uintptr_t kBlock = 2 << 20;

const char *const kProblems[] = {
    "op=layer_norm,dtype=f32", "op=rms_norm,dtype=bf16,residual=f32,sum=f16,output=i8,scale=per_row",
    "op=layer_norm,pass=backward,dtype=f16,weight=f32,residual=f16,saved_statistics=yes",
    "op=rms_norm,pass=backward,dtype=bf16,residual=bf16,sum=bf16,saved_statistics=yes"};

class TimingOperandsTest : public testing::TestWithParam<std::tuple<const char *, int64_t, int64_t>> {
protected:
    const NormProblem problem_ = problem_with(std::get<0>(GetParam()), std::get<1>(GetParam()));
    const int64_t rows_ = std::get<2>(GetParam());
    const TimingOperands operands_{problem_, rows_};
    const nf_arguments &arguments_ = operands_.arguments();

    template <typename Function>
    void for_each_operand(Function &&function) const {
        for (const Operand &operand : kOperands) {
            const nf_dtype type = operand_type(problem_, operand);
            if (type != NF_NONE && operand.shape != OperandShape::number) {
                function(operand, type, value_count(problem_, operand, rows_));
            }
        }
    }
};

TEST_P(TimingOperandsTest, RowsAreWithoutGaps) {
    EXPECT_EQ(arguments_.rows, rows_);
    EXPECT_EQ(arguments_.groups, 1);
    EXPECT_GT(arguments_.epsilon, 0);
    for_each_operand([&](const Operand &operand, nf_dtype, int64_t) {
        if (operand.shape == OperandShape::rows) {
            EXPECT_EQ(load_field<RowsField>(arguments_, operand).row_stride, problem_.hidden) << operand.name;
        }
    });
}

TEST_P(TimingOperandsTest, OperandsLiePageAfterPageFromAFixedAlignment) {
    uintptr_t expected = 0;
    for_each_operand([&](const Operand &operand, nf_dtype type, int64_t count) {
        const auto start = load_field<uintptr_t>(arguments_, operand);
        if (expected == 0) {
            EXPECT_EQ(start % kBlock, 0u);
            expected = start;
        }
        EXPECT_EQ(start, expected) << operand.name;
        expected += (static_cast<size_t>(count) * element_size(type) + kPage - 1) / kPage * kPage;
    });
    EXPECT_EQ(reinterpret_cast<uintptr_t>(arguments_.workspace), expected);
}

// Zeros and denormals may take another time, and pages never written may share one of zeros.
TEST_P(TimingOperandsTest, ValuesAreNormalNumbersThatDiffer) {
    for_each_operand([&](const Operand &operand, nf_dtype type, int64_t count) {
        const void *data = load_field<const void *>(arguments_, operand);
        int64_t zeros = 0;
        int64_t repeats = 0;
        for (int64_t i = 0; i < count; i++) {
            const double value = load_value(data, type, i);
            EXPECT_TRUE(std::isfinite(value)) << operand.name;
            zeros += value == 0;
            repeats += i > 0 && value == load_value(data, type, i - 1);
        }
        // i8 has few values to choose from, and rows of one value have one deviation.
        if (type != NF_I8 && operand.shape != OperandShape::row_values) {
            EXPECT_EQ(zeros, 0) << operand.name;
            EXPECT_LE(repeats, count / 2) << operand.name;
        }
    });
}

TEST_P(TimingOperandsTest, NfRunTakesThem) {
    const SingleKernel kernel(problem_, [](const nf_arguments *) {});
    EXPECT_EQ(nf_run(&kernel.kernel(), &arguments_), NF_SUCCESS);
}

TEST_P(TimingOperandsTest, StatisticsAreThoseOfTheRows) {
    if (problem_.pass != NF_BACKWARD) {
        return;
    }
    for (int64_t row = 0; row < rows_; row++) {
        std::vector<double> h;
        double mean = 0;
        double square = 0;
        for (int64_t i = row * problem_.hidden; i < (row + 1) * problem_.hidden; i++) {
            h.push_back(problem_.sum != NF_NONE ? load_value(arguments_.sum.data, problem_.sum, i)
                                                : load_value(arguments_.x.data, problem_.dtype, i) +
                                                      load_value(arguments_.residual.data, problem_.residual, i));
            mean += problem_.op == NF_LAYER_NORM ? h.back() / static_cast<double>(problem_.hidden) : 0;
        }
        for (double value : h) {
            square += (value - mean) * (value - mean) / static_cast<double>(problem_.hidden);
        }
        EXPECT_NEAR(arguments_.rstd[row] * std::sqrt(square + 1e-5), 1, 1e-6);
        if (problem_.op == NF_LAYER_NORM) {
            EXPECT_NEAR(arguments_.mean[row], mean, 1e-6);
        }
    }
}

std::string name_of_case(const testing::TestParamInfo<TimingOperandsTest::ParamType> &info) {
    const auto &[fields, hidden, rows] = info.param;
    return symbol_name(problem_with(fields, hidden)) + "_rows_" + std::to_string(rows);
}

INSTANTIATE_TEST_SUITE_P(ProblemHiddenAndRows, TimingOperandsTest,
                         testing::Combine(testing::ValuesIn(kProblems), testing::Values(1, 7, 1024, 4095),
                                          testing::Values(1, 4, 100)),
                         name_of_case);

TEST(TimingOperands, OutliveAMove) {
    TimingOperands first(default_problem(NF_RMS_NORM, 64), 3);
    const void *x = first.arguments().x.data;
    const TimingOperands second = std::move(first);
    EXPECT_EQ(second.arguments().x.data, x);
    EXPECT_TRUE(std::isnormal(*static_cast<const float *>(x)));
}

TEST(TimingOperands, ThatFitNoMemoryAreRefused) {
    EXPECT_THROW(TimingOperands(default_problem(NF_RMS_NORM, 1 << 20), int64_t{1} << 30), UserError);
}

const NormProblem kProblem = default_problem(NF_LAYER_NORM, 64);

int64_t kernel_calls;
const float *kernel_rows;

void counting_kernel(const nf_arguments *arguments) {
    kernel_calls++;
    kernel_rows = static_cast<const float *>(arguments->x.data);
}

void slow_kernel(const nf_arguments *) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

TEST(TimeCalls, CallsTheKernelThatOften) {
    const TimingOperands operands(kProblem, 2);
    kernel_calls = 0;
    EXPECT_GE(time_calls(SingleKernel(kProblem, counting_kernel).kernel(), operands.arguments(), 17), 0);
    EXPECT_EQ(kernel_calls, 17);
    EXPECT_EQ(kernel_rows, operands.arguments().x.data);
}

TEST(TimeCalls, IsOneCallsTime) {
    const TimingOperands operands(kProblem, 2);
    EXPECT_GE(time_calls(SingleKernel(kProblem, slow_kernel).kernel(), operands.arguments(), 3),
              2e6);  // a sleep may be longer, never shorter
}

TEST(TimeCalls, ThrowsWhereNothingRuns) {
    const TimingOperands operands(kProblem, 2);
    nf_arguments refused = operands.arguments();
    refused.epsilon = -1;
    EXPECT_THROW(time_calls(SingleKernel(kProblem, counting_kernel).kernel(), refused, 1), std::logic_error);
}

TEST(CallsFor, IsAtLeastOne) {
    const TimingOperands operands(kProblem, 2);
    EXPECT_EQ(calls_for(SingleKernel(kProblem, slow_kernel).kernel(), operands.arguments(), 1), 1);
}

// The first call is slow, for whatever reason; a call of nothing takes no 0.1 s.
TEST(CallsFor, FillsTheTimeWithFastCalls) {
    const TimingOperands operands(kProblem, 2);
    const auto slow_at_first = [](const nf_arguments *arguments) {
        static bool first = true;
        if (std::exchange(first, false)) {
            std::this_thread::sleep_for(std::chrono::milliseconds(120));
        }
        counting_kernel(arguments);
    };
    EXPECT_GT(calls_for(SingleKernel(kProblem, slow_at_first).kernel(), operands.arguments(), 1e8), 1);
}

}  // namespace
}  // namespace normforge
