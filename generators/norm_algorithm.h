#pragma once

#include "Halide.h"
#include "runtime/norm_problem.h"
#include "schedules/knobs.h"
#include "schedules/norm_stages.h"

namespace normforge {

struct NormInputs {
    Halide::Func x;       // (i, r)
    Halide::Func weight;  // (i); undefined when the problem has none
    Halide::Func bias;    // (i); undefined when the problem has none
    Halide::Expr epsilon;
};

// The maths of every norm, once, for all targets: y(i, r) and the stages that lead to it. The arithmetic depends
// on two knobs: sums, and the lanes that vector and accumulators make. writing, with vector and unroll for its
// steps, decides only the order in which y is defined. docs/numerics.md has the derivation and the error bounds.
NormStages define_norm(const NormProblem &problem, const Knobs &knobs, const NormInputs &inputs);

}  // namespace normforge
