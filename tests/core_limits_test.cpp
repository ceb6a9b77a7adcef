#include "autotune/measure/core_limits.h"

#include <gtest/gtest.h>

namespace normforge {
namespace {

TEST(CoreLimits, AreThoseOfACore) {
    const CoreLimits limits = measure_core_limits();
    for (const double bytes_per_nanosecond : {limits.loaded, limits.stored}) {
        EXPECT_GT(bytes_per_nanosecond, 0.5);   // a byte a cycle and less: the loops were not what they should be
        EXPECT_LT(bytes_per_nanosecond, 2000);  // three registers of 64 bytes at 10 GHz: they were left out
    }
}

constexpr CoreLimits kLimits{.loaded = 100, .stored = 10};
constexpr double kValues = 1000.0 * 7;

double least(const NormProblem &problem) {
    return least_nanoseconds(problem, 7, kLimits);
}

TEST(LeastNanoseconds, AreOfLoadsOrStores) {
    NormProblem problem = default_problem(NF_LAYER_NORM, 1000);
    EXPECT_DOUBLE_EQ(least(problem), 4 * kValues / 10);
    problem.residual = problem.sum = NF_F32;
    EXPECT_DOUBLE_EQ(least(problem), 8 * kValues / 10);
    problem = default_problem(NF_RMS_NORM, 1000);
    problem.residual = NF_F32;
    EXPECT_DOUBLE_EQ(least_nanoseconds(problem, 7, {10, 100}), 8 * kValues / 10);
}

TEST(LeastNanoseconds, CountWhatGradientsReadAndWrite) {
    NormProblem problem = default_problem(NF_RMS_NORM, 1000);
    problem.pass = NF_BACKWARD;
    EXPECT_DOUBLE_EQ(least(problem), 4 * kValues / 10);
    EXPECT_DOUBLE_EQ(least_nanoseconds(problem, 7, {10, 100}), 8 * kValues / 10);
}

}  // namespace
}  // namespace normforge
