#pragma once

#include <cstdint>
#include <vector>

#include "autotune/measure/operand_values.h"
#include "runtime/float_types.h"

namespace normforge {

// Rows, weights, biases and gradients as models have them: all that the problem reads.
inline OperandValues ordinary_values(const NormProblem &problem, int64_t row_count) {
    uint64_t seed = 1;
    const auto normal_row = [&](nf_dtype type) {
        return type == NF_NONE
                   ? std::vector<float>()
                   : rounded_to(type, normal_values(static_cast<size_t>(problem.hidden), 0, 1, seed++));
    };
    std::vector<TestRow> rows(static_cast<size_t>(row_count));
    for (TestRow &row : rows) {
        row.x = normal_row(problem.dtype);
        row.residual = normal_row(problem.residual);
        row.dy = normal_row(problem.pass == NF_BACKWARD ? problem.output : NF_NONE);
    }
    return read_values(problem, rows, 1e-5f, seed);
}

}  // namespace normforge
