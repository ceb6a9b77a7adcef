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
    // What is left of whole vectors of pairs is taken value by value: of 8 rms_norm of 1000 values takes 0.87 to
    // 0.93 of the time without pairs, of 24 600 values take 1.1 (Zen 4).
    constexpr int64_t kMostLeft = 8;
    const int64_t pair_vectors = problem.hidden / (2 * knobs.vector);
    const int64_t left = problem.hidden % (2 * knobs.vector);
    const bool pay = left == 0 || (left % 2 == 0 && left <= kMostLeft && pair_vectors >= 4);
    if (lowers_for_arm(target) || !pay) {
        return {false, false};
    }
    return {sums_in_pairs(problem, knobs), writes_in_pairs(problem, knobs)};
}

}  // namespace normforge
