#pragma once

#include "runtime/norm_problem.h"

namespace normforge {

// The norm that normforge.h defines, computed in f64 by the formula as it is written: the oracle that kernels are
// measured against. y gets rows x hidden values without gaps; arguments.y and its stride are not read. The
// arguments are ones that nf_run accepts.
//
// Exact to about 1e-15 of the larger of |y| and mean / deviation * |weight|, for any hidden: the mean is a
// compensated sum, the second moment one of squared deviations from it, so neither long rows nor a mean far
// above the deviation cost digits of an f32 result. No f32 input overflows. Values that are not finite give what
// the formula gives.
void reference_norm(const NormProblem &problem, const nf_arguments &arguments, double *y);

}  // namespace normforge
