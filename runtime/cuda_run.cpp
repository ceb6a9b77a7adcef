#include <algorithm>
#include <utility>

#include "runtime/check_arguments.h"
#include "runtime/cuda_load.h"
#include "runtime/operand_fields.h"
#include "runtime/run_rows.h"

namespace normforge {

namespace {

constexpr int64_t kMostParameters = 64;
constexpr int64_t kWidestAccess = 16;  // of a thread, in bytes

template <typename Visitor>
bool visit_forward(const NormProblem &problem, Visitor &&visit) {
    return visit_operands<NF_FORWARD>(problem, visit);
}

bool has_row_values(const NormProblem &problem) {
    return !visit_forward(problem,
                          [](auto index, nf_dtype) { return kOperands[index].shape != OperandShape::row_values; });
}

// The same call with its rows as groups and its groups as rows.
nf_arguments exchanged(const NormProblem &problem, const nf_arguments &arguments) {
    nf_arguments result = arguments;
    result.rows = arguments.groups;
    result.groups = arguments.rows;
    visit_forward(problem, [&](auto index, nf_dtype) {
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

bool is_multiple(int64_t stride, int64_t count, int64_t alignment) {
    return count == 1 || stride % alignment == 0;
}

// Of what is moved by vectors of that many values.
bool are_aligned(const NormProblem &problem, const nf_arguments &arguments, int64_t alignment) {
    return visit_forward(problem, [&](auto index, nf_dtype type) {
        constexpr const Operand &operand = kOperands[index];
        const auto bytes =
            static_cast<uintptr_t>(std::min(kWidestAccess, alignment * static_cast<int64_t>(element_size(type))));
        if constexpr (operand.shape == OperandShape::rows) {
            const auto field = load_field<RowsField>(arguments, operand);
            return reinterpret_cast<uintptr_t>(field.data) % bytes == 0 &&
                   is_multiple(field.row_stride, arguments.rows, alignment) &&
                   is_multiple(field.group_stride, group_count(arguments), alignment);
        } else if constexpr (operand.shape == OperandShape::vector) {
            return reinterpret_cast<uintptr_t>(load_field<void *>(arguments, operand)) % bytes == 0;
        } else {
            return true;
        }
    });
}

// The rows of a group that a kernel, which counts in 31 bits, reaches at once.
int64_t rows_in_reach(const NormProblem &problem, const nf_arguments &arguments) {
    int64_t longest = 1;
    visit_forward(problem, [&](auto index, nf_dtype) {
        constexpr const Operand &operand = kOperands[index];
        if constexpr (operand.shape == OperandShape::rows) {
            longest = std::max(longest, load_field<RowsField>(arguments, operand).row_stride);
        }
        return true;
    });
    return arguments.rows == 1 ? 1 : std::max<int64_t>(1, static_cast<int64_t>(kReach) / longest);
}

class CudaLaunch {
public:
    CudaLaunch(const nf_cuda_kernel &kernel, int64_t code, void *stream)
        : driver_(*kernel.driver), code_(kernel.entry->codes[code]), function_(kernel.functions[code]),
          stream_(stream) {}

    // One group of rows, in reach.
    nf_status run(const nf_arguments &part) const {
        union Value {
            char *pointer;
            int32_t integer;
            float number;
        };
        Value values[kMostParameters];
        void *parameters[kMostParameters];
        for (int64_t index = 0; index < code_.parameter_count; index++) {
            const nf_cuda_parameter &parameter = code_.parameters[index];
            const Operand &operand = kOperands[parameter.operand];
            Value &value = values[index];
            switch (parameter.source) {
            case NF_CUDA_POINTER:
                value.pointer = load_field<char *>(part, operand);
                break;
            case NF_CUDA_ROW_STRIDE:
                value.integer = static_cast<int32_t>(load_field<RowsField>(part, operand).row_stride);
                break;
            case NF_CUDA_NUMBER:
                value.number = load_field<float>(part, operand);
                break;
            case NF_CUDA_ROWS:
                value.integer = static_cast<int32_t>(part.rows);
                break;
            }
            parameters[index] = &value;
        }
        const auto blocks = static_cast<unsigned>((part.rows - 1) / code_.rows_of_block + 1);
        const CudaResult launched =
            driver_.cuLaunchKernel(function_, blocks, 1, 1, static_cast<unsigned>(code_.threads_x),
                                   static_cast<unsigned>(code_.threads_y), 1,
                                   static_cast<unsigned>(code_.shared_bytes), stream_, parameters, nullptr);
        return launched == kCudaSuccess ? NF_SUCCESS : NF_ERROR_CUDA_LAUNCH;
    }

private:
    const CudaDriver &driver_;
    const nf_cuda_code &code_;
    CudaFunction *function_;
    void *stream_;
};

nf_status run_forward(const nf_cuda_kernel &kernel, const nf_arguments &arguments, void *stream) {
    const NormProblem &problem = kernel.entry->problem;
    int64_t code = 0;
    while (code + 1 < kernel.entry->code_count &&
           !are_aligned(problem, arguments, kernel.entry->codes[code].alignment)) {
        code++;
    }
    const CudaLaunch launch(kernel, code, stream);
    const int64_t rows_at_once = rows_in_reach(problem, arguments);
    nf_arguments part = arguments;
    part.groups = 1;
    for (int64_t group = 0; group < group_count(arguments); group++) {
        for (int64_t row = 0; row < arguments.rows; row += part.rows) {
            take_rows<NF_FORWARD>(problem, arguments, group, row, std::min(rows_at_once, arguments.rows - row),
                                  part);
            if (nf_status status = launch.run(part)) {
                return status;
            }
        }
    }
    return NF_SUCCESS;
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
    if (nf_status status = check_arguments(problem, *arguments, longest_row_stride).status) {
        return status;
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
    return check_arguments(kernel->entry->problem, *arguments, longest_row_stride).field;
}
