#pragma once

#include "generators/norm_values.h"

namespace normforge {

// The gradients of a norm's inputs from that of its output. With g = dy * weight, xhat = (h - mean) * rstd and k =
// 1, or 1 / sqrt(mean(xhat^2)) where epsilon is on the deviation:
//     dx = rstd * (g - mean(g) - k * xhat * mean(g * xhat)) + dsum      (rms_norm has no mean(g))
//     dweight, dbias = sums over rows of dy * xhat and of dy
// rstd is the saved one. The saved mean is corrected by the row's own values, since as an f32 it may have lost
// what tells them apart.
NormStages define_gradient(const NormProblem &problem, const Knobs &knobs, const ValuePairs &pairs,
                           const NormValues &values);

}  // namespace normforge
