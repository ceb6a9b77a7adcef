#include "runtime/tasks.h"

#include <algorithm>

#include "runtime/kernel_table.h"
#include "runtime/operand_fields.h"

namespace normforge {

namespace {

template <nf_pass pass>
int64_t row_bytes_of_pass(const NormProblem &problem) {
    int64_t bytes = 0;
    visit_operands<pass>(problem, [&](auto index, nf_dtype type) {
        constexpr OperandShape shape = kOperands[index].shape;
        const auto size = static_cast<int64_t>(element_size(type));
        if constexpr (shape == OperandShape::rows) {
            bytes += problem.hidden * size;
        } else if constexpr (shape == OperandShape::row_values) {
            bytes += size;
        }
        return true;
    });
    return bytes;
}

int64_t saturated_product(int64_t a, int64_t b) {
    int64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

}  // namespace

int64_t row_bytes(const NormProblem &problem) {
    return problem.pass == NF_BACKWARD ? row_bytes_of_pass<NF_BACKWARD>(problem)
                                       : row_bytes_of_pass<NF_FORWARD>(problem);
}

int64_t task_count(const NormProblem &problem, int64_t rows, int64_t groups, int64_t threads) {
    if (rows < 1 || groups < 0 || threads < 2) {
        return 1;
    }
    const int64_t group_count = std::max<int64_t>(1, groups);
    const int64_t bytes = saturated_product(saturated_product(rows, group_count), row_bytes(problem));
    int64_t parts = saturated_product(rows, group_count);
    if (problem.pass == NF_BACKWARD) {
        parts = saturated_product((rows - 1) / gradient_slice_rows(problem) + 1, group_count);
    }
    return std::max<int64_t>(1, std::min({threads, NF_MAX_THREADS, bytes / NF_TASK_BYTES, parts}));
}

}  // namespace normforge
