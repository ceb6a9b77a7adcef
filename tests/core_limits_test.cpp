#include "autotune/measure/core_limits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>

namespace normforge {
namespace {

double copied_bytes_per_nanosecond() {
    using Clock = std::chrono::steady_clock;
    constexpr int kCopies = 100;
    static std::array<std::byte, 8 << 10> from, to;
    const Clock::time_point start = Clock::now();
    for (int copy = 0; copy < kCopies; copy++) {
        std::memcpy(to.data(), from.data(), from.size());
        asm volatile("" : : "r"(from.data()), "r"(to.data()) : "memory");
    }
    return kCopies * static_cast<double>(from.size()) /
           std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

// The C library copies by the widest registers that pay, so whoever does not is behind it by factors; a
// disturbance of one try is not. GCC made stores of 8 bytes of a vector that was wider than AVX2's registers.
TEST(CoreLimits, AreThoseOfItsWidestRegisters) {
#ifndef __OPTIMIZE__
    GTEST_SKIP() << "loops that are not optimised do not move what a core can";
#endif
    double copied = 0;
    CoreLimits most{};
    for (int attempt = 0; attempt < 200; attempt++) {
        const CoreLimits limits = measure_core_limits();
        most = {std::max(most.loaded, limits.loaded), std::max(most.stored, limits.stored)};
        copied = std::max(copied, copied_bytes_per_nanosecond());
        if (attempt >= 10 && std::min(most.loaded, most.stored) > 0.7 * copied) {
            break;
        }
    }
    EXPECT_GT(most.loaded, 0.7 * copied);
    EXPECT_GT(most.stored, 0.7 * copied);
    EXPECT_LT(std::max(most.loaded, most.stored),
              2000);  // three registers of 64 bytes at 10 GHz: nothing was moved
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
