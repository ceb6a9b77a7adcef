#include <algorithm>
#include <cstring>

#include "runtime/check_arguments.h"
#include "runtime/gradient_sums.h"
#include "runtime/kernel_table.h"
#include "runtime/operand_fields.h"

namespace normforge {

namespace {

// Kernels count values in 31 bits, so an entry gets no more rows at once than such a count can reach.
constexpr uint64_t kReach = INT32_MAX;

int64_t rows_in_reach(uint64_t stride) {
    return std::max<int64_t>(1, static_cast<int64_t>(kReach / stride));
}

// Out of line, so that the usual case does not set up what this needs.
[[gnu::noinline]] void run_in_parts(void (*entry)(const nf_arguments *), const NormProblem &problem,
                                    const nf_arguments &arguments, int64_t rows_at_once) {
    nf_arguments part = arguments;
    part.groups = 1;
    for (int64_t group = 0; group < group_count(arguments); group++) {
        for (int64_t row = 0; row < arguments.rows; row += part.rows) {
            take_rows<NF_FORWARD>(problem, arguments, group, row, std::min(rows_at_once, arguments.rows - row),
                                  part);
            entry(&part);
        }
    }
}

void run_forward(const nf_kernel &kernel, const nf_arguments &arguments, uint64_t longest_row_stride) {
    const int64_t groups = group_count(arguments);
    const auto entry = variant_for(kernel, arguments.rows * groups).entry;
    uint64_t reach = 0;
    if (groups == 1 &&
        !__builtin_mul_overflow(static_cast<uint64_t>(arguments.rows), longest_row_stride, &reach) &&
        reach <= kReach) {
        entry(&arguments);
    } else {
        run_in_parts(entry, kernel.problem, arguments, rows_in_reach(longest_row_stride));
    }
}

void set_gradients_to_zero(const NormProblem &problem, const nf_arguments &arguments) {
    if (problem.weight != NF_NONE) {
        std::memset(arguments.dweight, 0, problem.hidden * element_size(problem.weight));
    }
    if (problem.bias != NF_NONE) {
        std::memset(arguments.dbias, 0, problem.hidden * element_size(problem.bias));
    }
}

[[gnu::noinline]] void run_backward(const nf_kernel &kernel, const nf_arguments &arguments,
                                    uint64_t longest_row_stride) {
    const int64_t rows = arguments.rows;
    if (rows == 0) {
        set_gradients_to_zero(kernel.problem, arguments);
        return;
    }
    const int64_t groups = group_count(arguments);
    const auto entry = variant_for(kernel, rows * groups).entry;
    const int64_t rows_at_once = rows_in_reach(longest_row_stride);
    const int64_t slice_rows = gradient_slice_rows(kernel.problem);
    GradientSums sums(kernel.problem, arguments.workspace);
    nf_arguments part = arguments;
    part.groups = 1;
    const auto run_rows = [&](int64_t group, int64_t row, int64_t count) {
        take_rows<NF_BACKWARD>(kernel.problem, arguments, group, row, count, part);
        part.dweight = sums.weight_slot();
        part.dbias = sums.bias_slot();
        entry(&part);
    };
    for (int64_t group = 0; group < groups; group++) {
        for (int64_t slice = 0; slice < rows; slice += slice_rows) {
            const int64_t end = slice + std::min(slice_rows, rows - slice);
            run_rows(group, slice, std::min(rows_at_once, end - slice));
            for (int64_t row = slice + part.rows; row < end; row += part.rows) {
                sums.keep_part();
                run_rows(group, row, std::min(rows_at_once, end - row));
                sums.add_part();
            }
            sums.add_slice();
        }
    }
    sums.store(arguments.dweight, arguments.dbias);
}

}  // namespace

}  // namespace normforge

using namespace normforge;

nf_status nf_run(const nf_kernel *kernel, const nf_arguments *arguments) {
    if (!kernel || !arguments) {
        return NF_ERROR_NULL_ARGUMENT;
    }
    uint64_t longest_row_stride = 0;
    if (nf_status status = check_arguments(kernel->problem, *arguments, longest_row_stride).status) {
        return status;
    }
    if (kernel->problem.pass == NF_BACKWARD) {
        run_backward(*kernel, *arguments, longest_row_stride);
    } else if (arguments->rows > 0) {
        run_forward(*kernel, *arguments, longest_row_stride);
    }
    return NF_SUCCESS;
}

const char *nf_operand_at_fault(const nf_kernel *kernel, const nf_arguments *arguments) {
    if (!kernel || !arguments) {
        return nullptr;
    }
    uint64_t longest_row_stride = 0;
    return check_arguments(kernel->problem, *arguments, longest_row_stride).field;
}

int64_t nf_workspace_bytes(const nf_kernel *kernel, int64_t rows, int64_t groups) {
    if (!kernel || rows < 0 || groups < 0) {
        return 0;
    }
    return gradient_workspace_bytes(kernel->problem, rows, groups == 0 ? 1 : groups);
}
