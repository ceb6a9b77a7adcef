#include <algorithm>
#include <cfloat>

#include "runtime/kernel_table.h"
#include "runtime/norm_problem.h"

namespace normforge {

namespace {

// Equal rows at equal distances in memory, as bytes.
struct Rows {
    uintptr_t begin;
    uintptr_t end;  // of the last row
    uintptr_t row;
    uintptr_t stride;  // of no meaning for a single row
    bool single;
};

// False if the rows reach beyond what an int64_t or a pointer can count.
bool find_rows(const void *first, int64_t count, int64_t stride, int64_t hidden, nf_dtype type, Rows &rows) {
    const auto value_bytes = static_cast<int64_t>(element_size(type));
    int64_t reach = 0;
    rows.begin = reinterpret_cast<uintptr_t>(first);
    rows.row = hidden * value_bytes;
    rows.stride = static_cast<uintptr_t>(stride) * static_cast<uintptr_t>(value_bytes);
    rows.single = count == 1;
    return !__builtin_mul_overflow(count - 1, stride, &reach) && !__builtin_add_overflow(reach, hidden, &reach) &&
           !__builtin_mul_overflow(reach, value_bytes, &reach) &&
           !__builtin_add_overflow(rows.begin, reach, &rows.end);
}

// Whether rows of two operands whose ranges meet may share a byte.
bool interleaved_rows_overlap(const Rows &a, const Rows &b) {
    const Rows &low = a.begin <= b.begin ? a : b;
    const Rows &high = a.begin <= b.begin ? b : a;
    if (!low.single && !high.single && low.stride != high.stride) {
        return true;
    }
    // Rows of one stride keep their places to one another, so the first row of high decides for all: it must
    // fit between the row of low that it starts behind and the next one. If low has no next one, high starts
    // inside its last row, as it does not start behind the end.
    const uintptr_t stride = low.single ? (high.single ? low.row : high.stride) : low.stride;
    const uintptr_t place = (high.begin - low.begin) % stride;
    return place < low.row || stride - place < high.row;
}

bool overlap(const Rows &a, const Rows &b) {
    return a.begin < b.end && b.begin < a.end && interleaved_rows_overlap(a, b);
}

nf_status check_memory(const nf_problem &problem, const nf_arguments &arguments) {
    Rows x{}, y{}, weight{}, bias{};
    const int64_t hidden = problem.hidden;
    if (!find_rows(arguments.x, arguments.rows, arguments.x_row_stride, hidden, problem.dtype, x) ||
        !find_rows(arguments.y, arguments.rows, arguments.y_row_stride, hidden, problem.dtype, y) ||
        (problem.weight != NF_NONE && !find_rows(arguments.weight, 1, hidden, hidden, problem.weight, weight)) ||
        (problem.bias != NF_NONE && !find_rows(arguments.bias, 1, hidden, hidden, problem.bias, bias))) {
        return NF_ERROR_TOO_LARGE;
    }
    const bool in_place = x.begin == y.begin && (x.stride == y.stride || x.single);
    // An absent operand has no bytes and meets nothing.
    return (!in_place && overlap(x, y)) || overlap(weight, y) || overlap(bias, y) ? NF_ERROR_OVERLAP : NF_SUCCESS;
}

nf_status check_arguments(const nf_problem &problem, const nf_arguments &arguments) {
    if (!arguments.x) {
        return NF_ERROR_NULL_X;
    }
    if (!arguments.y) {
        return NF_ERROR_NULL_Y;
    }
    if (problem.weight != NF_NONE && !arguments.weight) {
        return NF_ERROR_NULL_WEIGHT;
    }
    if (problem.bias != NF_NONE && !arguments.bias) {
        return NF_ERROR_NULL_BIAS;
    }
    if (arguments.x_row_stride < problem.hidden) {
        return NF_ERROR_SHORT_X_STRIDE;
    }
    if (arguments.y_row_stride < problem.hidden) {
        return NF_ERROR_SHORT_Y_STRIDE;
    }
    // Also false for a NaN.
    if (!(arguments.epsilon >= 0 && arguments.epsilon <= FLT_MAX)) {
        return NF_ERROR_BAD_EPSILON;
    }
    return check_memory(problem, arguments);
}

// Kernels count values in 32 bits, so an entry gets no more rows at once than such a count can reach.
// All calls go to one variant: the rows together choose it.
void run_in_parts(const nf_kernel &kernel, const nf_arguments &arguments) {
    const auto entry = variant_for(kernel, arguments.rows).entry;
    const int64_t longest_stride = std::max(arguments.x_row_stride, arguments.y_row_stride);
    int64_t reach = 0;
    if (!__builtin_mul_overflow(arguments.rows, longest_stride, &reach) && reach <= INT32_MAX) {
        entry(&arguments);
        return;
    }
    const auto value_bytes = static_cast<int64_t>(element_size(kernel.problem.dtype));
    const int64_t rows_at_once = std::max<int64_t>(1, INT32_MAX / longest_stride);
    nf_arguments part = arguments;
    if (rows_at_once == 1) {
        part.x_row_stride = kernel.problem.hidden;
        part.y_row_stride = kernel.problem.hidden;
    }
    for (int64_t row = 0; row < arguments.rows; row += part.rows) {
        part.rows = std::min(rows_at_once, arguments.rows - row);
        part.x = static_cast<const char *>(arguments.x) + row * arguments.x_row_stride * value_bytes;
        part.y = static_cast<char *>(arguments.y) + row * arguments.y_row_stride * value_bytes;
        entry(&part);
    }
}

}  // namespace

}  // namespace normforge

nf_status nf_run(const nf_kernel *kernel, const nf_arguments *arguments) {
    if (!kernel || !arguments) {
        return NF_ERROR_NULL_ARGUMENT;
    }
    if (arguments->rows < 0) {
        return NF_ERROR_NEGATIVE_ROWS;
    }
    if (arguments->rows == 0) {
        return NF_SUCCESS;
    }
    const nf_status status = normforge::check_arguments(kernel->problem, *arguments);
    if (status == NF_SUCCESS) {
        normforge::run_in_parts(*kernel, *arguments);
    }
    return status;
}
