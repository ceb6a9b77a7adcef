#include "runtime/run_rows.h"

#include <algorithm>

#include "runtime/check_arguments.h"
#include "runtime/operand_fields.h"

namespace normforge {

namespace {

int64_t rows_in_reach(uint64_t stride) {
    return std::max<int64_t>(1, static_cast<int64_t>(kReach / stride));
}

}  // namespace

CheckedCall checked_call(const nf_kernel &kernel, const nf_arguments &arguments, uint64_t longest_row_stride) {
    const int64_t all_rows = arguments.rows * group_count(arguments);
    return {kernel.problem, arguments, variant_for(kernel, all_rows).entry, rows_in_reach(longest_row_stride)};
}

void run_rows(const CheckedCall &call, int64_t first, int64_t end) {
    const int64_t rows = call.arguments.rows;
    nf_arguments part = call.arguments;
    part.groups = 1;
    int64_t group = first / rows;
    int64_t row = first % rows;
    for (int64_t left = end - first; left > 0; left -= part.rows) {
        if (row == rows) {
            group++;
            row = 0;
        }
        const int64_t count = std::min({call.rows_at_once, rows - row, left});
        take_rows<NF_FORWARD>(call.problem, call.arguments, group, row, count, part);
        call.entry(&part);
        row += count;
    }
}

int64_t gradient_slices(const NormProblem &problem, const nf_arguments &arguments) {
    return ((arguments.rows - 1) / gradient_slice_rows(problem) + 1) * group_count(arguments);
}

void run_slices(const CheckedCall &call, int64_t first, int64_t end, GradientSums &sums) {
    const int64_t rows = call.arguments.rows;
    const int64_t slice_rows = gradient_slice_rows(call.problem);
    nf_arguments part = call.arguments;
    part.groups = 1;
    const auto run_part = [&](int64_t group, int64_t row, int64_t count) {
        take_rows<NF_BACKWARD>(call.problem, call.arguments, group, row, count, part);
        part.dweight = sums.weight_slot();
        part.dbias = sums.bias_slot();
        call.entry(&part);
    };
    const int64_t slices = (rows - 1) / slice_rows + 1;
    int64_t group = first / slices;
    int64_t first_row = first % slices * slice_rows;
    for (int64_t slice = first; slice < end; slice++, first_row += slice_rows) {
        if (first_row >= rows) {
            group++;
            first_row = 0;
        }
        const int64_t end_row = first_row + std::min(slice_rows, rows - first_row);
        run_part(group, first_row, std::min(call.rows_at_once, end_row - first_row));
        for (int64_t row = first_row + part.rows; row < end_row; row += part.rows) {
            sums.keep_part();
            run_part(group, row, std::min(call.rows_at_once, end_row - row));
            sums.add_part();
        }
        sums.add_slice();
    }
}

}  // namespace normforge
