#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/check_arguments.h"
#include "runtime/cuda_load.h"
#include "runtime/operand_fields.h"

namespace normforge {

// One launch: what it works on, and what its parameters take beside the operands.
struct CudaWork {
    const nf_arguments &arguments;  // one group of rows, in reach
    int64_t count;                  // of rows, slices or values, that blocks share
    int64_t slices = 0;
    bool continues = false;
};

// NF_ERROR_CUDA_LAUNCH where the driver refuses.
nf_status launch(const CudaDriver &driver, const nf_cuda_code &code, CudaFunction *function, void *stream,
                 const CudaWork &work);

// The rows of a group that a kernel, which counts in 31 bits, reaches at once.
template <nf_pass pass>
int64_t rows_in_reach(const NormProblem &problem, const nf_arguments &arguments) {
    int64_t longest = 1;
    visit_operands<pass>(problem, [&](auto index, nf_dtype) {
        constexpr const Operand &operand = kOperands[index];
        if constexpr (operand.shape == OperandShape::rows) {
            longest = std::max(longest, load_field<RowsField>(arguments, operand).row_stride);
        }
        return true;
    });
    return arguments.rows == 1 ? 1 : std::max<int64_t>(1, int64_t{INT32_MAX} / longest);
}

// Whether all that is moved by vectors of that many values begins at a multiple of what a thread moves at once.
template <nf_pass pass>
bool are_aligned(const NormProblem &problem, const nf_arguments &arguments, int64_t alignment) {
    constexpr int64_t kWidestAccess = 16;  // in bytes
    const auto is_aligned = [&](const void *data, size_t value_bytes) {
        const int64_t bytes = std::min(kWidestAccess, alignment * static_cast<int64_t>(value_bytes));
        return reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(bytes) == 0;
    };
    const auto is_multiple = [&](int64_t stride, int64_t count) { return count == 1 || stride % alignment == 0; };
    const bool are_operands = visit_operands<pass>(problem, [&](auto index, nf_dtype type) {
        constexpr const Operand &operand = kOperands[index];
        if constexpr (operand.shape == OperandShape::rows) {
            const auto field = load_field<RowsField>(arguments, operand);
            return is_aligned(field.data, element_size(type)) && is_multiple(field.row_stride, arguments.rows) &&
                   is_multiple(field.group_stride, group_count(arguments));
        } else if constexpr (operand.shape == OperandShape::vector && !is_gradient(operand)) {
            return is_aligned(load_field<void *>(arguments, operand), element_size(type));
        } else {
            return true;
        }
    });
    return are_operands && (pass == NF_FORWARD || is_aligned(arguments.workspace, sizeof(float)));
}

// The first of the kernel's codes that may take these operands.
template <nf_pass pass>
int64_t code_for(const nf_cuda_kernel &kernel, const nf_arguments &arguments) {
    const nf_cuda_entry &entry = *kernel.entry;
    int64_t code = 0;
    while (code + 1 < entry.code_count &&
           !are_aligned<pass>(entry.problem, arguments, entry.codes[code].alignment)) {
        code++;
    }
    return code;
}

}  // namespace normforge
