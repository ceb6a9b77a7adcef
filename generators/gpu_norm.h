#pragma once

#include "generators/norm_algorithm.h"
#include "schedules/gpu_knobs.h"
#include "schedules/gpu_stages.h"

namespace normforge {

// Both passes, of backward by gpu_gradient. Forward where a row's sums are taken by the threads of one warp or of
// several, in f32: the formulas of define_norm, with another way to sum. Of the result only `rows` is set, with a
// row's own values (mean, rstd, scales) beside each value of the row. docs/cuda.md has the derivation. The knobs
// must have passed check().
NormStages define_gpu_norm(const NormProblem &problem, const GpuKnobs &knobs, const NormInputs &inputs,
                           const ValueConversion &conversion, GpuStages &gpu);

}  // namespace normforge
