#include <algorithm>
#include <utility>

#include "runtime/cuda_launch.h"
#include "runtime/cuda_slices.h"
#include "runtime/gradient_sums.h"

namespace normforge {

namespace {

bool has_row_values(const NormProblem &problem) {
    return !visit_operands<NF_FORWARD>(
        problem, [](auto index, nf_dtype) { return kOperands[index].shape != OperandShape::row_values; });
}

// The same call with its rows as groups and its groups as rows.
nf_arguments exchanged(const NormProblem &problem, const nf_arguments &arguments) {
    nf_arguments result = arguments;
    result.rows = arguments.groups;
    result.groups = arguments.rows;
    visit_operands<NF_FORWARD>(problem, [&](auto index, nf_dtype) {
        constexpr const Operand &operand = kOperands[index];
        if constexpr (operand.shape == OperandShape::rows) {
            auto field = load_field<RowsField>(arguments, operand);
            std::swap(field.row_stride, field.group_stride);
            store_field(result, operand, field);
        }
        return true;
    });
    return result;
}

// run(part, group, first row) for all rows of all groups, at most so many at once; until one fails.
template <nf_pass pass, typename Run>
nf_status run_parts(const NormProblem &problem, const nf_arguments &arguments, int64_t rows_at_once, Run &&run) {
    nf_arguments part = arguments;
    part.groups = 1;
    for (int64_t group = 0; group < group_count(arguments); group++) {
        for (int64_t row = 0; row < arguments.rows; row += part.rows) {
            take_rows<pass>(problem, arguments, group, row, std::min(rows_at_once, arguments.rows - row), part);
            if (nf_status status = run(part, group, row)) {
                return status;
            }
        }
    }
    return NF_SUCCESS;
}

nf_status run_forward(const nf_cuda_kernel &kernel, const nf_arguments &arguments, void *stream) {
    const NormProblem &problem = kernel.entry->problem;
    const int64_t code = code_for<NF_FORWARD>(kernel, arguments);
    const auto run = [&](const nf_arguments &part, int64_t, int64_t) {
        return launch(*kernel.driver, kernel.entry->codes[code], kernel.codes[code].function, stream,
                      {part, part.rows});
    };
    return run_parts<NF_FORWARD>(problem, arguments, rows_in_reach<NF_FORWARD>(problem, arguments), run);
}

nf_status run_backward(const nf_cuda_kernel &kernel, const nf_arguments &arguments, void *stream) {
    const nf_cuda_entry &entry = *kernel.entry;
    const NormProblem &problem = entry.problem;
    const int64_t values = gradient_values(problem);
    const int64_t code = code_for<NF_BACKWARD>(kernel, arguments);
    const int64_t rows_at_once = rows_in_reach<NF_BACKWARD>(problem, arguments);
    // A slice's rows that are out of reach are added later: each must have one in reach.
    const int64_t slices = arguments.rows == 0 ? 0 : std::min(cuda_slices(problem, arguments.rows), rows_at_once);
    const auto run = [&](nf_arguments &part, int64_t group, int64_t row) {
        auto *sums = static_cast<float *>(arguments.workspace);
        if (values > 0) {
            sums += group * slices * values;
        }
        part.dweight = sums;
        part.dbias = sums + (problem.weight == NF_NONE ? 0 : problem.hidden);
        const int64_t part_slices = std::min(slices, part.rows);
        return launch(*kernel.driver, entry.codes[code], kernel.codes[code].function, stream,
                      {part, part_slices, part_slices, row > 0});
    };
    nf_status status = run_parts<NF_BACKWARD>(problem, arguments, rows_at_once, run);
    if (status == NF_SUCCESS && values > 0) {
        status = launch(*kernel.driver, *entry.sums, kernel.sums.function, stream,
                        {arguments, problem.hidden, slices * group_count(arguments)});
    }
    return status;
}

}  // namespace

}  // namespace normforge

using namespace normforge;

nf_status nf_cuda_run(const nf_cuda_kernel *kernel, const nf_arguments *arguments, void *stream) {
    if (!kernel || !arguments) {
        return NF_ERROR_NULL_ARGUMENT;
    }
    const NormProblem &problem = kernel->entry->problem;
    uint64_t longest_row_stride = 0;
    if (nf_status status =
            check_arguments(problem, *arguments, longest_row_stride, 1, cuda_workspace_bytes).status) {
        return status;
    }
    if (problem.pass == NF_BACKWARD) {
        return run_backward(*kernel, *arguments, stream);
    }
    if (arguments->rows == 0) {
        return NF_SUCCESS;
    }
    // Fewer launches, where there are more groups than rows.
    const bool exchanges = group_count(*arguments) > arguments->rows && !has_row_values(problem);
    return run_forward(*kernel, exchanges ? exchanged(problem, *arguments) : *arguments, stream);
}

const char *nf_cuda_operand_at_fault(const nf_cuda_kernel *kernel, const nf_arguments *arguments) {
    if (!kernel || !arguments) {
        return nullptr;
    }
    uint64_t longest_row_stride = 0;
    return check_arguments(kernel->entry->problem, *arguments, longest_row_stride, 1, cuda_workspace_bytes).field;
}

int64_t nf_cuda_workspace_bytes(const nf_cuda_kernel *kernel, int64_t rows, int64_t groups) {
    if (!kernel || rows < 0 || groups < 0) {
        return 0;
    }
    return cuda_workspace_bytes(kernel->entry->problem, rows, groups == 0 ? 1 : groups, 1);
}
