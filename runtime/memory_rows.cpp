#include "runtime/memory_rows.h"

namespace normforge {

namespace {

bool is_single_row(const MemoryRows &memory) {
    return memory.inner.count == 1;
}

// The part of value / stride that is left, from 0 on also for a negative value.
int64_t place_in_stride(int64_t value, int64_t stride) {
    const int64_t place = value % stride;
    return place < 0 ? place + stride : place;
}

// The rows at the inner stride alone, of which b's first starts that far behind a's.
bool inner_rows_meet(const MemoryRows &a, const MemoryRows &b, int64_t distance) {
    const int64_t a_reach = (a.inner.count - 1) * a.inner.stride + a.row;
    const int64_t b_reach = (b.inner.count - 1) * b.inner.stride + b.row;
    if (distance >= a_reach || -distance >= b_reach) {
        return false;
    }
    if (is_single_row(a) && is_single_row(b)) {
        return true;
    }
    // Rows of one stride keep their places to one another, so one of b decides for all: it must fit between the
    // row of a that it starts behind and the next one. Where one of those is missing, the first or last row of one
    // operand starts or ends inside the other's, as the reaches meet, and that place says so too.
    const int64_t stride = is_single_row(a) ? b.inner.stride : a.inner.stride;
    const int64_t place = place_in_stride(distance, stride);
    return place < a.row || stride - place < b.row;
}

}  // namespace

MemoryRows find_rows(MemoryRange range, int64_t values, int64_t value_bytes, MemoryAxis rows, MemoryAxis groups) {
    const auto effective = [&](const MemoryAxis &axis) {
        const bool leads_nowhere = axis.count == 1 || axis.stride == 0;
        return leads_nowhere ? MemoryAxis{1, 0} : MemoryAxis{axis.count, axis.stride * value_bytes};
    };
    const MemoryAxis by_rows = effective(rows);
    const MemoryAxis by_groups = effective(groups);
    const bool groups_inside = by_rows.count == 1 || (by_groups.count > 1 && by_groups.stride < by_rows.stride);
    return {.range = range,
            .row = values * value_bytes,
            .inner = groups_inside ? by_groups : by_rows,
            .outer = groups_inside ? by_rows : by_groups};
}

bool rows_are_apart(const MemoryRows &memory) {
    const int64_t inner_reach = (memory.inner.count - 1) * memory.inner.stride + memory.row;
    return (memory.inner.count == 1 || memory.row <= memory.inner.stride) &&
           (memory.outer.count == 1 || inner_reach <= memory.outer.stride);
}

bool is_same_memory(const MemoryRows &a, const MemoryRows &b) {
    return a.range.begin == b.range.begin && a.row == b.row && a.inner == b.inner && a.outer == b.outer;
}

bool may_share_memory(const MemoryRows &a, const MemoryRows &b) {
    if (!ranges_meet(a.range, b.range)) {
        return false;
    }
    const bool same_strides = a.inner == b.inner && a.outer == b.outer;
    if ((!same_strides && !is_single_row(a) && !is_single_row(b)) || !rows_are_apart(a) || !rows_are_apart(b)) {
        return true;
    }
    const auto distance = static_cast<int64_t>(b.range.begin - a.range.begin);
    const int64_t stride = a.outer.count > 1 ? a.outer.stride : b.outer.stride;
    if (stride == 0) {
        return inner_rows_meet(a, b, distance);
    }
    // The same a level up: the inner rows of b must fit between those of a that they start behind and the next.
    const int64_t place = place_in_stride(distance, stride);
    return inner_rows_meet(a, b, place) || inner_rows_meet(a, b, place - stride);
}

}  // namespace normforge
