#pragma once

#include <map>

#include "Halide.h"
#include "generators/value_types.h"
#include "runtime/operands.h"
#include "schedules/knobs.h"
#include "schedules/norm_stages.h"

namespace normforge {

// What a problem reads, by operand, as it is stored: rows (i, r), vectors (i), values of rows (r), and numbers.
struct NormInputs {
    std::map<OperandId, Halide::Func> funcs;
    std::map<OperandId, Halide::Expr> numbers;
    Halide::Expr rows;  // how many rows there are
    // Of a GPU's gradients: how many slices these are, and whether the sums of former rows go on.
    Halide::Expr slices, continues;
};

// The maths of every norm and of its gradients, once, for all targets. The arithmetic depends on two knobs: sums,
// and the lanes that vector and accumulators make. writing, with vector and unroll for its steps, decides only the
// order in which values are written. docs/numerics.md has the derivation and the error bounds.
NormStages define_norm(const NormProblem &problem, const Knobs &knobs, const ValuePairs &pairs,
                       const NormInputs &inputs, const ValueConversion &conversion);

}  // namespace normforge
