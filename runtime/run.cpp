#include <cstring>

#include "runtime/check_arguments.h"
#include "runtime/gradient_sums.h"
#include "runtime/kernel_table.h"
#include "runtime/run_rows.h"
#include "runtime/vector_length.h"

namespace normforge {

namespace {

// Out of line, so that the usual case does not set up what this needs.
[[gnu::noinline]] void run_in_parts(const nf_kernel &kernel, const nf_arguments &arguments,
                                    uint64_t longest_row_stride) {
    run_rows(checked_call(kernel, arguments, longest_row_stride), 0, arguments.rows * group_count(arguments));
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
        run_in_parts(kernel, arguments, longest_row_stride);
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
    if (arguments.rows == 0) {
        set_gradients_to_zero(kernel.problem, arguments);
        return;
    }
    GradientSums sums(kernel.problem, static_cast<float *>(arguments.workspace));
    run_slices(checked_call(kernel, arguments, longest_row_stride), 0, gradient_slices(kernel.problem, arguments),
               sums);
    sums.store(arguments.dweight, arguments.dbias);
}

}  // namespace

}  // namespace normforge

using namespace normforge;

nf_status nf_run(const nf_kernel *kernel, const nf_arguments *arguments) {
    if (!kernel || !arguments) {
        return NF_ERROR_NULL_ARGUMENT;
    }
    if (!has_vector_length(kernel->cpu_features)) {
        return NF_ERROR_CPU_LACKS_FEATURES;
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
