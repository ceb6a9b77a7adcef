#pragma once

#include <cstdint>

// What an operand covers in memory: rows of equal length, at up to two distances from one another. All in bytes.

namespace normforge {

// Where the rows of a group lie, or the groups.
struct MemoryAxis {
    int64_t count;
    int64_t stride;

    bool operator==(const MemoryAxis &) const = default;
};

// From the first byte of the first row to behind the last one of the last.
struct MemoryRange {
    uintptr_t begin;
    uintptr_t end;

    bool operator==(const MemoryRange &) const = default;
};

struct MemoryRows {
    MemoryRange range;
    int64_t row;
    // The inner one has the shorter stride. An axis that leads to no other bytes, as it has one place or no
    // stride, is {1, 0}; the inner one is so only if both are.
    MemoryAxis inner;
    MemoryAxis outer;
};

// Of rows of `values` values, with strides in values, 0 or more. False if the rows reach beyond what an int64_t or
// a pointer can count.
inline bool find_range(const void *data, int64_t values, int64_t value_bytes, MemoryAxis rows, MemoryAxis groups,
                       MemoryRange &range) {
    int64_t rows_reach = 0;
    int64_t groups_reach = 0;
    int64_t reach = 0;
    range.begin = reinterpret_cast<uintptr_t>(data);
    return !__builtin_mul_overflow(rows.count - 1, rows.stride, &rows_reach) &&
           !__builtin_mul_overflow(groups.count - 1, groups.stride, &groups_reach) &&
           !__builtin_add_overflow(rows_reach, groups_reach, &reach) &&
           !__builtin_add_overflow(reach, values, &reach) && !__builtin_mul_overflow(reach, value_bytes, &reach) &&
           !__builtin_add_overflow(range.begin, static_cast<uintptr_t>(reach), &range.end);
}

// Of rows whose range has been found.
MemoryRows find_rows(MemoryRange range, int64_t values, int64_t value_bytes, MemoryAxis rows, MemoryAxis groups);

inline bool ranges_meet(const MemoryRange &a, const MemoryRange &b) {
    return a.begin < b.end && b.begin < a.end;
}

// Whether no two of the rows share a byte, known from the strides alone: there is room for a row in the shorter
// stride, and for all rows at the shorter stride in the longer one.
bool rows_are_apart(const MemoryRows &memory);

// Of two operands with as many rows: each row is one of the other and at the same place.
bool is_same_memory(const MemoryRows &a, const MemoryRows &b);

// Whether the two may share a byte. Sure to find it; sure to be right where the strides are equal and there is one
// group, or where one of the two is a single row. Where ranges meet, rows of other strides are said to share one.
bool may_share_memory(const MemoryRows &a, const MemoryRows &b);

}  // namespace normforge
