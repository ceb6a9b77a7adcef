#include "autotune/measure/accuracy_gate.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cmath>
#include <ostream>
#include <tuple>

#include "autotune/measure/child_process.h"
#include "tests/ranged_call.h"
#include "tests/simulated_norm.h"
#include "tests/wrong_kernels.h"

namespace normforge {
namespace {

AccuracyGate::Result check(Entry entry) {
    const SingleKernel single(problem, entry);
    return AccuracyGate(problem).check(single.kernel());
}

// The gate's failure, or what the kernel died of.
std::string verdict(Entry entry) {
    ChildProcess child([&](const ChildProcess::Send &send) {
        signal(SIGSEGV, SIG_DFL);  // a sanitizer catches it
        send(check(entry).failure);
    });
    const std::optional<std::string> failure = child.read(std::chrono::seconds(60));
    return failure ? *failure : child.reason();
}

const char *const kProblems[] = {
    "op=layer_norm,dtype=f32",
    "op=layer_norm,dtype=f32,weight=none,bias=none",
    "op=layer_norm,dtype=f16,weight=f32,bias=bf16,saved_statistics=yes",
    "op=layer_norm,dtype=bf16,normalised=bf16,residual=bf16,sum=bf16,statistics=bf16",
    "op=layer_norm,dtype=f32,output=f8e4m3,scale=per_row,epsilon_place=on_deviation",
    "op=rms_norm,dtype=f32",
    "op=rms_norm,dtype=bf16,weight_offset=1,residual=f32,sum=f32,saved_statistics=yes",
    "op=rms_norm,dtype=f32,output=i8,scale=static,unquantised=f16",
    "op=rms_norm,dtype=f16,output=i8,scale=per_row,unquantised=f16",
    "op=layer_norm,pass=backward,dtype=f32,saved_statistics=yes",
    "op=layer_norm,pass=backward,dtype=bf16,residual=f32,sum=bf16,saved_statistics=yes",
    "op=rms_norm,pass=backward,dtype=f32,weight_offset=1,epsilon_place=on_deviation,saved_statistics=yes",
    "op=rms_norm,pass=backward,dtype=f16,weight=none,residual=f16,saved_statistics=yes"};

class RightKernelTest : public testing::TestWithParam<std::tuple<const char *, int64_t>> {};

TEST_P(RightKernelTest, Passes) {
    problem = problem_with(std::get<0>(GetParam()), std::get<1>(GetParam()));
    arithmetic = {"two passes", kTwoPass, 4, true};
    for (Entry entry : {kernel<PlainNorm>, kernel<SimulatedNorm>}) {
        const AccuracyGate::Result result = check(entry);
        EXPECT_EQ(result.failure, "");
        EXPECT_LE(result.error_ratio, 1);
        EXPECT_GE(result.error_ratio, 0);
        EXPECT_EQ(result.output_digest.size(), 32u);
    }
}

INSTANTIATE_TEST_SUITE_P(ProblemAndHidden, RightKernelTest,
                         testing::Combine(testing::ValuesIn(kProblems), testing::Values(1, 2, 7, 100, 1023)),
                         [](const auto &test) {
                             return symbol_name(problem_with(std::get<0>(test.param), std::get<1>(test.param)));
                         });

struct WrongKernel {
    const char *name;
    Entry entry;
    const char *problem;
    const char *verdict;  // is a part of it
};

void PrintTo(const WrongKernel &wrong, std::ostream *out) {
    *out << wrong.name;
}

class WrongKernelTest : public testing::TestWithParam<std::tuple<WrongKernel, int64_t>> {};

TEST_P(WrongKernelTest, FailsWithTheReason) {
    const auto &[wrong, hidden] = GetParam();
    problem = problem_with(wrong.problem, hidden);
    EXPECT_EQ(verdict(kernel<PlainNorm>), "");
    EXPECT_PRED_FORMAT2(testing::IsSubstring, wrong.verdict, verdict(wrong.entry));
}

const char *const kLayer = "op=layer_norm,dtype=f32";
const char *const kRms = "op=rms_norm,dtype=f32,bias=f32";
const char *const kBf16 = "op=rms_norm,dtype=bf16";
const char *const kSum = "op=layer_norm,dtype=bf16,residual=bf16,sum=bf16,statistics=bf16";
const char *const kSaved = "op=layer_norm,dtype=f32,saved_statistics=yes";
const char *const kI8 = "op=rms_norm,dtype=f32,output=i8,scale=static,unquantised=bf16";
const char *const kF8 = "op=rms_norm,dtype=f32,output=f8e4m3,scale=per_row";
const char *const kBackward = "op=layer_norm,pass=backward,dtype=f32,saved_statistics=yes";
const char *const kBackwardRms = "op=rms_norm,pass=backward,dtype=bf16,weight_offset=1,saved_statistics=yes";
const char *const kDeviation =
    "op=rms_norm,pass=backward,dtype=f32,epsilon_place=on_deviation,saved_statistics=yes";

INSTANTIATE_TEST_SUITE_P(
    All, WrongKernelTest,
    testing::Combine(
        testing::Values(
            WrongKernel{"off_by_a_hundredth", kernel<OffByAHundredth>, kLayer, "row 'normal': y 0 is "},
            WrongKernel{"off_by_a_hundredth_in_16_bits", kernel<OffByAHundredth>, kBf16, "row 'normal': y "},
            WrongKernel{"square_of_the_mean", kernel<SquareOfTheMeanTakenOff>, kLayer, "row 'mean 1e4': y 0 is "},
            WrongKernel{"no_epsilon", kernel<NoEpsilon>, kRms, "row 'normal': y 0 is "},
            WrongKernel{"unbiased_variance", kernel<UnbiasedVariance>, kLayer, "row 'normal': y "},
            WrongKernel{"squares_in_f32", kernel<SquaresInF32>, kRms, "row 'deviation 1e25': y "},
            WrongKernel{"no_weight", kernel<NoWeight>, kLayer, "row 'normal': y 0 is "},
            WrongKernel{"no_bias", kernel<NoBias>, kRms, "row 'normal': y 0 is "},
            WrongKernel{"offset_added_in_16_bits", kernel<OffsetAddedIn16Bits>,
                        "op=rms_norm,dtype=bf16,output=f32,weight_offset=1", "row 'normal': y "},
            WrongKernel{"normalised_not_rounded", kernel<NormalisedNotRounded>,
                        "op=rms_norm,dtype=bf16,weight=f32,normalised=bf16,output=f32", "row 'normal': y "},
            WrongKernel{"unquantised_not_rounded", kernel<UnquantisedNotRounded>,
                        "op=rms_norm,dtype=f32,output=i8,scale=static,unquantised=bf16", ": y "},
            WrongKernel{"statistics_not_rounded", kernel<StatisticsNotRounded>, kSum, "row 'normal': "},
            WrongKernel{"no_residual", kernel<NoResidual>, kSum, "row 'normal': "},
            WrongKernel{"saves_nothing", kernel<SavesNothing>, kSaved, "row 'normal': mean 0 is "},
            WrongKernel{"saves_variance", kernel<SavesVariance>, kSaved, "row 'normal': rstd 0 is "},
            WrongKernel{"scale_of_the_first_value", kernel<ScaleOfTheFirstValue>, kF8, ": scales 0 is "},
            WrongKernel{"scale_not_used", kernel<ScaleNotUsed>, kF8, "row 'normal': y "},
            WrongKernel{"scale_of_zeros_is_zero", kernel<ScaleOfZerosIsZero>, kF8, "row 'zeros': scales 0 is 0"},
            WrongKernel{"wraps_around", kernel<WrapsAround>, kI8, ": y "},
            WrongKernel{"truncates", kernel<Truncates>, kI8, "row 'normal': y "},
            WrongKernel{"writes_past_each_row_but_the_last", kernel<WritesPastEachRowButTheLast>, kLayer,
                        "all rows at once: wrote beside the rows of y"},
            WrongKernel{"writes_past_the_row", kernel<WritesPastTheRow>, kLayer, "killed by SIGSEGV"},
            WrongKernel{"reads_past_the_row", kernel<ReadsPastTheRow>, kBf16, "killed by SIGSEGV"},
            WrongKernel{"reads_past_the_weight", kernel<ReadsPastTheWeight>, kRms, "killed by SIGSEGV"},
            WrongKernel{"uses_the_gap", kernel<UsesTheGap>, kLayer, "row 'normal': y 0 is nan"},
            WrongKernel{"nan_stays", kernel<NanStays>, kLayer, "row 'after NaN': y 0 is nan, expected "},
            WrongKernel{"changes_the_second_row", kernel<ChangesTheSecondRow>, kRms, "the bits of y differ"},
            WrongKernel{"writes_before_it_has_read", kernel<WritesBeforeItHasRead>, kRms,
                        "row 'normal': in place and alone, the bits of y differ"},
            WrongKernel{"no_mean_of_gradients", kernel<NoMeanOfGradients>, kBackward, "row 'normal': dx 0 is "},
            WrongKernel{"no_slope", kernel<NoSlope>, kBackward, "row 'normal': dx "},
            WrongKernel{"slope_of_epsilon_in_root", kernel<SlopeOfEpsilonInRoot>, kDeviation, ": dx "},
            WrongKernel{"gradient_without_weight", kernel<NoWeight>, kBackwardRms, "row 'normal': dx "},
            WrongKernel{"sums_in_bf16", kernel<SumsInBf16>, kBackward, "dweight "},
            WrongKernel{"counts_its_calls", kernel<CountsItsCalls>, kBackward,
                        "called again, the bits of dweight differ"}),
        testing::Values(7, 100, 1023)),
    [](const auto &wrong) {
        return std::string(std::get<0>(wrong.param).name) + "_" + std::to_string(std::get<1>(wrong.param));
    });

template <typename Norm>
std::string digest() {
    problem = default_problem(NF_LAYER_NORM, 100);
    return check(kernel<Norm>).output_digest;
}

struct OtherNans : PlainNorm {
    using PlainNorm::PlainNorm;
    double output(double value, float scale) const override {
        const double right = PlainNorm::output(value, scale);
        return std::isnan(right) ? std::copysign(std::nan("5"), std::signbit(right) ? 1.0 : -1.0) : right;
    }
};

struct OneBitChanged : PlainNorm {
    using PlainNorm::PlainNorm;
    void write(int64_t r, const std::vector<double> &values) override {
        std::vector<double> changed = values;
        changed[50] = r == 0 ? -changed[50] : changed[50];
        PlainNorm::write(r, changed);
    }
};

TEST(OutputDigest, TellsBitsButNotNansApart) {
    EXPECT_EQ(digest<PlainNorm>(), digest<PlainNorm>());
    EXPECT_EQ(digest<OtherNans>(), digest<PlainNorm>());
    EXPECT_NE(digest<OneBitChanged>(), digest<PlainNorm>());
}

}  // namespace
}  // namespace normforge
