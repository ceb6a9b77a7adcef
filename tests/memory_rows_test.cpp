#include <gtest/gtest.h>

#include <bitset>
#include <ostream>
#include <vector>

#include "runtime/memory_rows.h"

namespace normforge {
namespace {

constexpr int64_t kOrigin = 100;
using Bytes = std::bitset<256>;

struct Layout {
    int64_t row;
    MemoryAxis rows;
    MemoryAxis groups;
};

std::ostream &operator<<(std::ostream &stream, const Layout &layout) {
    return stream << "rows of " << layout.row << ", " << layout.rows.count << " by " << layout.rows.stride << ", "
                  << layout.groups.count << " by " << layout.groups.stride;
}

// The bytes of all rows, of which the first begins there.
Bytes bytes_of(const Layout &layout, int64_t begin) {
    Bytes bytes;
    for (int64_t group = 0; group < layout.groups.count; group++) {
        for (int64_t row = 0; row < layout.rows.count; row++) {
            for (int64_t byte = 0; byte < layout.row; byte++) {
                bytes.set(begin + group * layout.groups.stride + row * layout.rows.stride + byte);
            }
        }
    }
    return bytes;
}

MemoryRows memory_of(const Layout &layout, int64_t begin) {
    MemoryRange range{};
    EXPECT_TRUE(find_range(reinterpret_cast<void *>(begin), layout.row, 1, layout.rows, layout.groups, range));
    return find_rows(range, layout.row, 1, layout.rows, layout.groups);
}

std::vector<MemoryAxis> small_axes() {
    std::vector<MemoryAxis> axes{{1, 0}, {1, 7}};
    for (int64_t count : {2, 3}) {
        for (int64_t stride : {0, 1, 2, 3, 4, 5, 9, 12}) {
            axes.push_back({count, stride});
        }
    }
    return axes;
}

std::vector<Layout> small_layouts() {
    std::vector<Layout> layouts;
    for (const MemoryAxis &rows : small_axes()) {
        for (const MemoryAxis &groups : small_axes()) {
            for (int64_t row : {1, 2, 3}) {
                layouts.push_back({row, rows, groups});
            }
        }
    }
    return layouts;
}

TEST(MemoryRows, RangeIsFromFirstByteToLast) {
    for (const Layout &layout : small_layouts()) {
        const Bytes bytes = bytes_of(layout, kOrigin);
        const MemoryRows memory = memory_of(layout, kOrigin);
        EXPECT_EQ(memory.range.begin, kOrigin) << layout;
        EXPECT_TRUE(bytes[memory.range.end - 1]) << layout;
        EXPECT_TRUE((bytes >> memory.range.end).none()) << layout;
        EXPECT_EQ(memory.row, layout.row) << layout;
    }
}

// Strides of rows that are written are not 0.
TEST(MemoryRows, RowsThatAreApartShareNoByte) {
    int apart = 0;
    for (const Layout &layout : small_layouts()) {
        if ((layout.rows.count > 1 && layout.rows.stride == 0) ||
            (layout.groups.count > 1 && layout.groups.stride == 0)) {
            continue;
        }
        const auto bytes = static_cast<int64_t>(bytes_of(layout, kOrigin).count());
        const bool distinct = bytes == layout.row * layout.rows.count * layout.groups.count;
        const bool one_axis = layout.rows.count == 1 || layout.groups.count == 1;
        const bool found = rows_are_apart(memory_of(layout, kOrigin));
        EXPECT_TRUE(distinct || !found) << layout;
        EXPECT_TRUE(found || !distinct || !one_axis) << layout;
        apart += found;
    }
    EXPECT_GT(apart, 0);
}

// Nothing shared is overlooked, for rows at all distances that matter. Where one stride or one run is compared,
// nothing is suspected either.
TEST(MemoryRows, SharedBytesAreFound) {
    const std::vector<Layout> layouts = small_layouts();
    int found_apart = 0;
    for (const Layout &written : layouts) {
        std::vector<Layout> others{{1, {1, 0}, {1, 0}}, {4, {1, 0}, {1, 0}}, {30, {1, 0}, {1, 0}}};
        for (int64_t row : {1, 2, 3}) {
            others.push_back({row, written.rows, written.groups});
        }
        others.push_back({2, {3, 5}, {2, 12}});
        others.push_back({2, {3, 0}, {2, 5}});
        const bool one_axis = written.rows.count == 1 || written.groups.count == 1;
        const Bytes written_bytes = bytes_of(written, kOrigin);
        const MemoryRows written_memory = memory_of(written, kOrigin);
        for (size_t index = 0; index < others.size(); index++) {
            const Layout &other = others[index];
            for (int64_t distance = -40; distance <= 40; distance++) {
                const bool shared = (written_bytes & bytes_of(other, kOrigin + distance)).any();
                const MemoryRows other_memory = memory_of(other, kOrigin + distance);
                const bool suspected = may_share_memory(written_memory, other_memory);
                const bool exact = one_axis && index < 6 && rows_are_apart(written_memory);
                ASSERT_TRUE(suspected || !shared) << written << " and " << other << " at " << distance;
                ASSERT_TRUE(shared || !suspected || !exact || !rows_are_apart(other_memory))
                    << written << " and " << other << " at " << distance;
                ASSERT_EQ(may_share_memory(other_memory, written_memory), suspected)
                    << written << " and " << other << " at " << distance;
                found_apart += !suspected && ranges_meet(written_memory.range, other_memory.range);
            }
        }
    }
    EXPECT_GT(found_apart, 0);
}

TEST(MemoryRows, ReachIsCountedToTheLastByte) {
    MemoryRange range;
    const auto fits = [&](uintptr_t begin, int64_t value_bytes, MemoryAxis rows, MemoryAxis groups) {
        return find_range(reinterpret_cast<void *>(begin), 16, value_bytes, rows, groups, range);
    };
    EXPECT_TRUE(fits(UINTPTR_MAX - 64, 4, {1, 0}, {1, 0}));
    EXPECT_FALSE(fits(UINTPTR_MAX - 63, 4, {1, 0}, {1, 0}));
    EXPECT_TRUE(fits(64, 1, {2, INT64_MAX - 16}, {1, 0}));
    EXPECT_FALSE(fits(64, 1, {2, INT64_MAX - 15}, {1, 0}));
    EXPECT_TRUE(fits(64, 1, {1, 0}, {2, INT64_MAX - 16}));
    EXPECT_FALSE(fits(64, 1, {1, 0}, {2, INT64_MAX - 15}));
    EXPECT_FALSE(fits(64, 1, {2, INT64_MAX / 2}, {2, INT64_MAX / 2}));
    EXPECT_FALSE(fits(64, 2, {2, INT64_MAX / 2}, {1, 0}));
    EXPECT_FALSE(fits(64, 1, {INT64_MAX, 2}, {1, 0}));
    EXPECT_TRUE(fits(64, 1, {1, INT64_MIN}, {1, INT64_MAX}));
}

}  // namespace
}  // namespace normforge
