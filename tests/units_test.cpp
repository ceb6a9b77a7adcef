#include "autotune/base/units.h"

#include <gtest/gtest.h>

namespace normforge {
namespace {

TEST(Times, HaveFourDigitsAndAFittingUnit) {
    EXPECT_EQ(time_text(0), "0 ns");
    EXPECT_EQ(time_text(0.25), "0.25 ns");
    EXPECT_EQ(time_text(82.914), "82.91 ns");
    EXPECT_EQ(time_text(999.94), "999.9 ns");
    EXPECT_EQ(time_text(999.96), "1 us");
    EXPECT_EQ(time_text(1000), "1 us");
    EXPECT_EQ(time_text(12345.6), "12.35 us");
    EXPECT_EQ(time_text(1.5e6), "1.5 ms");
    EXPECT_EQ(time_text(45.32e9), "45.32 s");
    EXPECT_EQ(time_text(12345.6e9), "12346 s");
}

TEST(Sizes, HaveFourDigitsAndAFittingUnit) {
    EXPECT_EQ(size_text(0), "0 bytes");
    EXPECT_EQ(size_text(1000), "1000 bytes");
    EXPECT_EQ(size_text(1023), "1023 bytes");
    EXPECT_EQ(size_text(1024), "1 KiB");
    EXPECT_EQ(size_text(1536), "1.5 KiB");
    EXPECT_EQ(size_text(48 << 10), "48 KiB");
    EXPECT_EQ(size_text((1 << 20) - 1), "1 MiB");
    EXPECT_EQ(size_text(int64_t{36} << 20), "36 MiB");
    EXPECT_EQ(size_text(int64_t{5} << 50), "5120 TiB");
}

TEST(Counts, AreOfOneOrOfMany) {
    EXPECT_EQ(counted(0, "row"), "0 rows");
    EXPECT_EQ(counted(1, "row"), "1 row");
    EXPECT_EQ(counted(64, "row"), "64 rows");
}

}  // namespace
}  // namespace normforge
