#pragma once

#include <array>
#include <span>
#include <vector>

#include "autotune/measure/test_rows.h"
#include "runtime/operands.h"

namespace normforge {

// Operands' values as f32, which holds those of every type, in the order of rows and values without gaps. Empty
// for what is not there; a number is one value.
using OperandValues = std::array<std::vector<float>, kOperandCount>;

// All that a problem reads for these rows. Backward's saved statistics are the forward pass's exact ones, rounded.
OperandValues read_values(const NormProblem &problem, const std::vector<TestRow> &rows, float epsilon,
                          uint64_t seed);

// The values of those rows, in that order. What all rows share stays.
OperandValues rows_of_values(const NormProblem &problem, const OperandValues &values,
                             std::span<const size_t> rows);

// What the problem writes. Of NaNs it is not told which they were.
OperandValues written_values(const NormProblem &problem, const nf_arguments &arguments);

}  // namespace normforge
