#pragma once

#include <vector>

#include "runtime/norm_problem.h"

namespace normforge {

// What a problem's outputs are, in f64: the oracle that kernels are measured against. Rows are those of all
// groups, group after group, without gaps. The formulas are evaluated as normforge.h writes them; the only
// roundings are those that the problem asks for between its steps.
struct ReferenceNorm {
    std::vector<double> h;           // rows x hidden: x, or x + residual in f32, rounded as `statistics` says
    std::vector<double> mean;        // rows; 0 for rms_norm
    std::vector<double> rstd;        // rows; of backward the saved one
    std::vector<double> normalised;  // rows x hidden: (h - mean) * rstd, not rounded
    // Forward.
    std::vector<double> y;       // rows x hidden: with weight and bias; not rounded, not divided by a scale
    std::vector<double> scales;  // rows; 1 where the output is not quantised
    // Backward.
    std::vector<double> dx;              // rows x hidden: the gradient of h
    std::vector<double> dweight, dbias;  // hidden; empty where the problem has no weight or bias
};

// The arguments are ones that nf_run accepts, and what the problem writes is not looked at. Backward reads rstd,
// but finds the mean itself: a saved f32 mean far above the deviation has lost what tells the values apart.
//
// Exact to about 1e-15 of the larger of |value| and mean / deviation * |weight|, for any hidden size: the mean is
// a compensated sum, the second moment one of squared deviations from it. No input overflows. Values that are not
// finite give what the formula gives.
ReferenceNorm reference_norm(const NormProblem &problem, const nf_arguments &arguments);

// What value `index` of every row is multiplied by: the weight, with the offset added in f32; 1 without a weight.
double weight_factor(const NormProblem &problem, const nf_arguments &arguments, int64_t index);

}  // namespace normforge
