#include "autotune/measure/accuracy_gate.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ostream>
#include <tuple>

#include "autotune/measure/child_process.h"
#include "autotune/measure/loaded_kernel.h"
#include "tests/plain_kernels.h"

namespace normforge {
namespace {

using Entry = LoadedKernel::Entry;

// The gate's failure, or what the kernel died of.
std::string verdict(Entry entry) {
    const AccuracyGate gate(problem);
    ChildProcess child([&](const ChildProcess::Send &send) {
        signal(SIGSEGV, SIG_DFL);  // a sanitizer catches it
        send(gate.check(entry).failure);
    });
    const std::optional<std::string> failure = child.read(std::chrono::seconds(60));
    return failure ? *failure : child.reason();
}

class RightKernelTest : public testing::TestWithParam<std::tuple<nf_op, nf_dtype, nf_dtype, int64_t>> {};

TEST_P(RightKernelTest, Passes) {
    const auto [op, weight, bias, hidden] = GetParam();
    problem = {op, NF_F32, weight, bias, hidden};
    const AccuracyGate::Result result = AccuracyGate(problem).check(kernel<right_row>);
    EXPECT_EQ(result.failure, "");
    EXPECT_LE(result.error_ratio, 1);
    EXPECT_GE(result.error_ratio, 0);
    EXPECT_EQ(result.output_digest.size(), 32u);
}

std::string name_of_case(const testing::TestParamInfo<RightKernelTest::ParamType> &info) {
    const auto &[op, weight, bias, hidden] = info.param;
    return symbol_name({op, NF_F32, weight, bias, hidden});
}

INSTANTIATE_TEST_SUITE_P(OpWeightBiasHidden, RightKernelTest,
                         testing::Combine(testing::Values(NF_LAYER_NORM, NF_RMS_NORM),
                                          testing::Values(NF_F32, NF_NONE), testing::Values(NF_F32, NF_NONE),
                                          testing::Values(1, 2, 7, 100, 4095)),
                         name_of_case);

void off_by_a_hundredth(const float *x, float *y, const nf_arguments &arguments, int64_t r) {
    right_row(x, y, arguments, r);
    y[problem.hidden - 1] *= 1.01f;
}

void square_of_the_mean_taken_off(const float *x, float *y, const nf_arguments &arguments, int64_t) {
    float sum = 0;
    float squares = 0;
    for (int64_t i = 0; i < problem.hidden; i++) {
        sum += x[i];
        squares += x[i] * x[i];
    }
    const float mean = sum / static_cast<float>(problem.hidden);
    write_row(x, y, arguments, {mean, squares / static_cast<float>(problem.hidden) - mean * mean});
}

void no_epsilon(const float *x, float *y, const nf_arguments &arguments, int64_t r) {
    nf_arguments changed = arguments;
    changed.epsilon = 0;
    right_row(x, y, changed, r);
}

void unbiased_variance(const float *x, float *y, const nf_arguments &arguments, int64_t) {
    Statistics row = statistics(x);
    row.mean_square *= static_cast<double>(problem.hidden) / static_cast<double>(problem.hidden - 1);
    write_row(x, y, arguments, row);
}

void no_weight(const float *x, float *y, const nf_arguments &arguments, int64_t r) {
    const std::vector<float> ones(static_cast<size_t>(problem.hidden), 1);
    nf_arguments changed = arguments;
    changed.weight = ones.data();
    right_row(x, y, changed, r);
}

void no_bias(const float *x, float *y, const nf_arguments &arguments, int64_t r) {
    const std::vector<float> zeros(static_cast<size_t>(problem.hidden), 0);
    nf_arguments changed = arguments;
    changed.bias = zeros.data();
    right_row(x, y, changed, r);
}

void writes_past_each_row_but_the_last(const float *x, float *y, const nf_arguments &arguments, int64_t r) {
    right_row(x, y, arguments, r);
    if (r + 1 < arguments.rows) {
        y[problem.hidden] = 0;
    }
}

void writes_past_the_row(const float *x, float *y, const nf_arguments &arguments, int64_t r) {
    right_row(x, y, arguments, r);
    *const_cast<volatile float *>(y + problem.hidden) = 0;
}

void reads_past_the_row(const float *x, float *y, const nf_arguments &arguments, int64_t r) {
    static_cast<void>(*const_cast<const volatile float *>(x + problem.hidden));
    right_row(x, y, arguments, r);
}

void reads_past_the_bias(const float *x, float *y, const nf_arguments &arguments, int64_t r) {
    static_cast<void>(static_cast<const volatile float *>(arguments.bias)[problem.hidden]);
    right_row(x, y, arguments, r);
}

void uses_the_gap(const float *x, float *y, const nf_arguments &arguments, int64_t r) {
    Statistics row = statistics(x);
    row.mean += r + 1 < arguments.rows ? 0 * x[problem.hidden] : 0;
    write_row(x, y, arguments, row);
}

void nan_stays(const float *x, float *y, const nf_arguments &arguments, int64_t r) {
    static double sum;  // a sum that is scaled by 0 instead of set to it
    Statistics row = statistics(x);
    sum = (r == 0 ? 0 : 0 * sum) + row.mean_square;
    write_row(x, y, arguments, {row.mean, sum});
}

void second_row_differs(const float *x, float *y, const nf_arguments &arguments, int64_t r) {
    right_row(x, y, arguments, r);
    if (r == 1) {
        y[0] = std::nextafter(y[0], 0.0f);
    }
}

void writes_before_it_has_read(const float *x, float *y, const nf_arguments &arguments, int64_t r) {
    std::fill_n(y, problem.hidden, 0.0f);
    right_row(x, y, arguments, r);
}

// Takes the rows of x as lying without gaps.
void ignores_the_stride(const float *x, float *y, const nf_arguments &arguments, int64_t r) {
    right_row(x - r * (arguments.x_row_stride - problem.hidden), y, arguments, r);
}

struct WrongKernel {
    const char *name;
    Entry entry;
    std::vector<nf_op> ops;
    const char *verdict;  // is a part of it
};

void PrintTo(const WrongKernel &wrong, std::ostream *out) {
    *out << wrong.name;
}

class WrongKernelTest : public testing::TestWithParam<std::tuple<WrongKernel, int64_t>> {};

TEST_P(WrongKernelTest, FailsWithTheReason) {
    const auto &[wrong, hidden] = GetParam();
    for (nf_op op : wrong.ops) {
        problem = {op, NF_F32, NF_F32, NF_F32, hidden};
        EXPECT_PRED_FORMAT2(testing::IsSubstring, wrong.verdict, verdict(wrong.entry)) << field_text(op);
    }
}

const std::vector<nf_op> kBoth = {NF_LAYER_NORM, NF_RMS_NORM};

INSTANTIATE_TEST_SUITE_P(
    All, WrongKernelTest,
    testing::Combine(
        testing::Values(
            WrongKernel{"off_by_a_hundredth", kernel<off_by_a_hundredth>, kBoth, "row 'normal': value "},
            WrongKernel{"square_of_the_mean",
                        kernel<square_of_the_mean_taken_off>,
                        {NF_LAYER_NORM},
                        "row 'mean 1e4': value 0 is "},
            WrongKernel{"no_epsilon", kernel<no_epsilon>, kBoth, ", off by "},
            WrongKernel{"unbiased_variance", kernel<unbiased_variance>, kBoth, ", off by "},
            WrongKernel{"no_weight", kernel<no_weight>, kBoth, "row 'normal': value 0 is "},
            WrongKernel{"no_bias", kernel<no_bias>, kBoth, "row 'normal': value 0 is "},
            WrongKernel{"writes_past_each_row_but_the_last", kernel<writes_past_each_row_but_the_last>, kBoth,
                        "row 'normal': wrote past the end of the row"},
            WrongKernel{"writes_past_the_row", kernel<writes_past_the_row>, kBoth, "killed by SIGSEGV"},
            WrongKernel{"reads_past_the_row", kernel<reads_past_the_row>, kBoth, "killed by SIGSEGV"},
            WrongKernel{"reads_past_the_bias", kernel<reads_past_the_bias>, kBoth, "killed by SIGSEGV"},
            WrongKernel{"uses_the_gap", kernel<uses_the_gap>, kBoth, "row 'normal': value 0 is nan"},
            WrongKernel{"nan_stays", kernel<nan_stays>, kBoth, "row 'after NaN': value 0 is nan, expected "},
            WrongKernel{"second_row_differs", kernel<second_row_differs>, kBoth,
                        "row 'mean 1e4': in place and alone, its bits differ"},
            WrongKernel{"writes_before_it_has_read", kernel<writes_before_it_has_read>, kBoth,
                        "row 'normal': in place and alone, its bits differ"},
            WrongKernel{"ignores_the_stride", kernel<ignores_the_stride>, kBoth, "row 'mean 1e4': value "}),
        testing::Values(7, 100, 4095)),
    [](const auto &wrong) {
        return std::string(std::get<0>(wrong.param).name) + "_" + std::to_string(std::get<1>(wrong.param));
    });

TEST(AccuracyGate, OperandThatTheProblemLacksCannotBeRead) {
    problem = {NF_RMS_NORM, NF_F32, NF_F32, NF_NONE, 100};
    EXPECT_EQ(verdict(kernel<reads_past_the_bias>), "killed by SIGSEGV");
}

template <Row row>
std::string digest() {
    problem = default_problem(NF_LAYER_NORM, 100);
    return AccuracyGate(problem).check(kernel<row>).output_digest;
}

void other_nans(const float *x, float *y, const nf_arguments &arguments, int64_t r) {
    right_row(x, y, arguments, r);
    for (int64_t i = 0; i < problem.hidden; i++) {
        y[i] = std::isnan(y[i]) ? std::copysign(std::nanf("5"), std::signbit(y[i]) ? 1.0f : -1.0f) : y[i];
    }
}

void one_bit_changed(const float *x, float *y, const nf_arguments &arguments, int64_t r) {
    right_row(x, y, arguments, r);
    if (r == 0) {
        y[problem.hidden / 2] = -y[problem.hidden / 2];
    }
}

TEST(OutputDigest, TellsBitsButNotNansApart) {
    EXPECT_EQ(digest<right_row>(), digest<right_row>());
    EXPECT_EQ(digest<other_nans>(), digest<right_row>());
    EXPECT_NE(digest<one_bit_changed>(), digest<right_row>());
}

}  // namespace
}  // namespace normforge
