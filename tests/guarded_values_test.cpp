#include "autotune/measure/guarded_values.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>

#include "autotune/measure/child_process.h"

namespace normforge {
namespace {

const size_t kPageValues = static_cast<size_t>(sysconf(_SC_PAGESIZE)) / sizeof(float);

// How a child ends that does this.
std::string ending(const std::function<void()> &access) {
    ChildProcess child([&](const ChildProcess::Send &) {
        signal(SIGSEGV, SIG_DFL);  // a sanitizer catches it
        access();
    });
    child.read(std::chrono::seconds(60));
    return child.reason();
}

class GuardedValuesTest : public testing::TestWithParam<size_t> {};

TEST_P(GuardedValuesTest, AllMayBeReadAndWritten) {
    GuardedValues values(GetParam());
    ASSERT_EQ(values.values().size(), GetParam());
    std::ranges::fill(values.values(), 2.5f);
    EXPECT_TRUE(std::ranges::all_of(values.values(), [](float value) { return value == 2.5f; }));
}

TEST_P(GuardedValuesTest, NothingBehindThemMay) {
    GuardedValues values(GetParam());
    volatile float *end = values.values().data() + GetParam();
    EXPECT_EQ(ending([&] { end[-1] = end[-1] + 1; }), GetParam() == 0 ? "killed by SIGSEGV" : "");
    EXPECT_EQ(ending([&] { end[0] = 0; }), "killed by SIGSEGV");
    EXPECT_EQ(ending([&] { static_cast<void>(end[0]); }), "killed by SIGSEGV");
    EXPECT_EQ(ending([&] { static_cast<void>(end[kPageValues - 1]); }), "killed by SIGSEGV");
}

TEST_P(GuardedValuesTest, NothingBeforeTheirFirstPageMay) {
    GuardedValues values(GetParam());
    const auto start = reinterpret_cast<uintptr_t>(values.values().data());
    volatile float *page =
        reinterpret_cast<float *>(start / (kPageValues * sizeof(float)) * kPageValues * sizeof(float));
    EXPECT_EQ(ending([&] { static_cast<void>(page[-1]); }), "killed by SIGSEGV");
    EXPECT_EQ(ending([&] { page[-1] = 0; }), "killed by SIGSEGV");
}

INSTANTIATE_TEST_SUITE_P(Count, GuardedValuesTest,
                         testing::Values(0, 1, 7, kPageValues - 1, kPageValues, kPageValues + 1, 5 * kPageValues));

}  // namespace
}  // namespace normforge
