#pragma once

#include "generators/norm_algorithm.h"
#include "schedules/gpu_knobs.h"
#include "schedules/gpu_stages.h"

namespace normforge {

// The gradients of define_gradient where the threads of one warp or of several take a row's sums, in f32, and one
// after the other the rows of a slice, of which they keep the sums of dweight and dbias. Slice s has every
// slices-th row from row s on: those that are taken at one time lie side by side. The result's `rows` are (i, row
// of the slice, slice). docs/cuda.md has the derivation. The knobs must have passed check().
NormStages define_gpu_gradient(const NormProblem &problem, const GpuKnobs &knobs, const NormInputs &inputs,
                               const ValueConversion &conversion, GpuStages &gpu);

}  // namespace normforge
