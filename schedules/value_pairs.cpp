#include "schedules/value_pairs.h"

#include <algorithm>

#include "runtime/operands.h"
#include "schedules/target.h"

namespace normforge {

namespace {

bool is_bf16_or_absent(const NormProblem &problem, const Operand &operand) {
    const nf_dtype type = operand_type(problem, operand);
    return type == NF_NONE || type == NF_BF16;
}

// Of vectors those that are read: weight and bias.
bool is_along_row(const NormProblem &problem, const Operand &operand) {
    return operand.shape == OperandShape::rows ||
           (operand.shape == OperandShape::vector && !is_written(problem, operand));
}

bool sums_in_pairs(const NormProblem &problem, const Knobs &knobs) {
    // What else a forward pass sums are its rows alone; the largest magnitude is of what is written.
    const bool sums_rows = problem.pass == NF_FORWARD && problem.scale != NF_SCALE_PER_ROW;
    return knobs.accumulators > 1 && std::ranges::all_of(kOperands, [&](const Operand &operand) {
               return is_written(problem, operand) || !is_along_row(problem, operand) ||
                      (sums_rows && operand.shape != OperandShape::rows) || is_bf16_or_absent(problem, operand);
           });
}

bool writes_in_pairs(const NormProblem &problem, const Knobs &knobs) {
    // Sums over rows are f32.
    return problem.pass == NF_FORWARD && knobs.unroll > 1 &&
           std::ranges::all_of(kOperands, [&](const Operand &operand) {
               return !is_along_row(problem, operand) || is_bf16_or_absent(problem, operand);
           });
}

}  // namespace

ValuePairs value_pairs(const NormProblem &problem, const Knobs &knobs, const Halide::Target &target) {
    const bool are_whole = problem.hidden % (2 * knobs.vector) == 0;
    if (lowers_for_arm(target) || !are_whole) {
        return {false, false};
    }
    return {sums_in_pairs(problem, knobs), writes_in_pairs(problem, knobs)};
}

}  // namespace normforge
