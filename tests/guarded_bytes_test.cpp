#include "autotune/measure/guarded_bytes.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>

#include "autotune/measure/child_process.h"

namespace normforge {
namespace {

const size_t kPage = static_cast<size_t>(sysconf(_SC_PAGESIZE));

// How a child ends that does this.
std::string ending(const std::function<void()> &access) {
    ChildProcess child([&](const ChildProcess::Send &) {
        signal(SIGSEGV, SIG_DFL);  // a sanitizer catches it
        access();
    });
    child.read(std::chrono::seconds(60));
    return child.reason();
}

class GuardedBytesTest : public testing::TestWithParam<size_t> {};

TEST_P(GuardedBytesTest, AllMayBeReadAndWritten) {
    const GuardedBytes guarded(GetParam());
    ASSERT_EQ(guarded.bytes().size(), GetParam());
    std::ranges::fill(guarded.bytes(), std::byte{25});
    EXPECT_TRUE(std::ranges::all_of(guarded.bytes(), [](std::byte value) { return value == std::byte{25}; }));
}

TEST_P(GuardedBytesTest, NothingBehindThemMay) {
    const GuardedBytes guarded(GetParam());
    volatile char *end = reinterpret_cast<char *>(guarded.bytes().data()) + GetParam();
    EXPECT_EQ(ending([&] { end[-1] = 1; }), GetParam() == 0 ? "killed by SIGSEGV" : "");
    EXPECT_EQ(ending([&] { end[0] = 0; }), "killed by SIGSEGV");
    EXPECT_EQ(ending([&] { static_cast<void>(end[0]); }), "killed by SIGSEGV");
    EXPECT_EQ(ending([&] { static_cast<void>(end[kPage - 1]); }), "killed by SIGSEGV");
}

TEST_P(GuardedBytesTest, NothingBeforeTheirFirstPageMay) {
    const GuardedBytes guarded(GetParam());
    const auto start = reinterpret_cast<uintptr_t>(guarded.bytes().data());
    volatile char *page = reinterpret_cast<char *>(start / kPage * kPage);
    EXPECT_EQ(ending([&] { static_cast<void>(page[-1]); }), "killed by SIGSEGV");
    EXPECT_EQ(ending([&] { page[-1] = 0; }), "killed by SIGSEGV");
}

TEST_P(GuardedBytesTest, StayWhereTheyAreWhenMoved) {
    GuardedBytes first(GetParam());
    const std::byte *start = first.bytes().data();
    const GuardedBytes second = std::move(first);
    EXPECT_EQ(second.bytes().data(), start);
    std::ranges::fill(second.bytes(), std::byte{1});
}

INSTANTIATE_TEST_SUITE_P(Count, GuardedBytesTest,
                         testing::Values(0, 1, 7, 4 * kPage - 1, kPage, kPage + 1, 5 * kPage));

}  // namespace
}  // namespace normforge
