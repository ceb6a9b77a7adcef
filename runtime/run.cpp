#include <algorithm>
#include <cfloat>

#include "runtime/kernel_table.h"
#include "runtime/norm_problem.h"

namespace normforge {

namespace {

// Equal rows at equal distances in memory.
struct Rows {
    uintptr_t begin;
    int64_t count;
    int64_t stride;  // in values, as is hidden; of no meaning for a single row
    int64_t hidden;
    int64_t value_bytes;

    uintptr_t row_bytes() const { return hidden * value_bytes; }
    uintptr_t stride_bytes() const { return stride * value_bytes; }
};

// Sets end to the last row's end; false if it lies beyond what an int64_t or a pointer can count.
bool find_end(const Rows &rows, uintptr_t &end) {
    int64_t reach = 0;
    return !__builtin_mul_overflow(rows.count - 1, rows.stride, &reach) &&
           !__builtin_add_overflow(reach, rows.hidden, &reach) &&
           !__builtin_mul_overflow(reach, rows.value_bytes, &reach) &&
           !__builtin_add_overflow(rows.begin, reach, &end);
}

// Whether any rows of the two may share a byte. Both have an end.
bool overlap(const Rows &a, const Rows &b) {
    const Rows &low = a.begin <= b.begin ? a : b;
    const Rows &high = a.begin <= b.begin ? b : a;
    uintptr_t low_end = 0;
    find_end(low, low_end);
    if (low_end <= high.begin) {
        return false;
    }
    if (low.count > 1 && high.count > 1 && low.stride_bytes() != high.stride_bytes()) {
        return true;
    }
    // Rows of one stride keep their places to one another, so the first row of high decides for all: it must
    // fit between the row of low that it starts behind and the next one. If low has no next one, high starts
    // inside its last row, as it does not start behind the end.
    const uintptr_t stride = low.count > 1 ? low.stride_bytes() : high.stride_bytes();
    const uintptr_t place = (high.begin - low.begin) % stride;
    return place < low.row_bytes() || stride - place < high.row_bytes();
}

nf_status check_memory(const nf_problem &problem, const nf_arguments &arguments) {
    auto rows_at = [&](const void *first, int64_t count, int64_t stride, nf_dtype type) {
        return Rows{.begin = reinterpret_cast<uintptr_t>(first),
                    .count = count,
                    .stride = count > 1 ? stride : problem.hidden,
                    .hidden = problem.hidden,
                    .value_bytes = static_cast<int64_t>(element_size(type))};
    };
    const Rows x = rows_at(arguments.x, arguments.rows, arguments.x_row_stride, problem.dtype);
    const Rows y = rows_at(arguments.y, arguments.rows, arguments.y_row_stride, problem.dtype);
    const Rows weight = rows_at(arguments.weight, 1, 0, problem.weight);
    const Rows bias = rows_at(arguments.bias, 1, 0, problem.bias);
    const bool in_place = x.begin == y.begin && x.stride == y.stride;

    uintptr_t end = 0;
    if (!find_end(x, end) || !find_end(y, end)) {
        return NF_ERROR_TOO_LARGE;
    }
    for (const Rows *operand : {&weight, &bias}) {
        if (operand->value_bytes == 0) {
            continue;
        }
        if (!find_end(*operand, end)) {
            return NF_ERROR_TOO_LARGE;
        }
        if (overlap(*operand, y)) {
            return NF_ERROR_OVERLAP;
        }
    }
    return !in_place && overlap(x, y) ? NF_ERROR_OVERLAP : NF_SUCCESS;
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
    const auto value_bytes = static_cast<int64_t>(element_size(kernel.problem.dtype));
    const int64_t longest_stride = std::max(arguments.x_row_stride, arguments.y_row_stride);
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
