#pragma once

#include "runtime/operand_fields.h"

namespace normforge {

// Where in memory a call's operands have their values.

// How many values the operand has with that many rows, those of all groups together.
inline int64_t value_count(const NormProblem &problem, const Operand &operand, int64_t all_rows) {
    switch (operand.shape) {
    case OperandShape::rows:
        return all_rows * problem.hidden;
    case OperandShape::row_values:
        return all_rows;
    case OperandShape::vector:
        return problem.hidden;
    case OperandShape::number:
        break;
    }
    return 1;
}

// Calls with the place of each row's first value, in values, and its number among all rows.
template <typename Function>
void for_each_row(const RowsField &field, int64_t rows, int64_t groups, Function &&function) {
    for (int64_t group = 0; group < groups; group++) {
        for (int64_t row = 0; row < rows; row++) {
            function(group * field.group_stride + row * field.row_stride, group * rows + row);
        }
    }
}

// The call for one of its rows alone.
inline nf_arguments one_row(const NormProblem &problem, const nf_arguments &arguments, int64_t group,
                            int64_t row) {
    nf_arguments result = arguments;
    result.groups = 1;
    const auto take = problem.pass == NF_BACKWARD ? take_rows<NF_BACKWARD> : take_rows<NF_FORWARD>;
    take(problem, arguments, group, row, 1, result);
    return result;
}

}  // namespace normforge
