#pragma once

#include <span>
#include <vector>

#include "runtime/norm_problem.h"

namespace normforge {

// How far each value of one normalised row may be from the exact one, whatever the schedule: the worst case of the
// arithmetic that docs/numerics.md describes, first order in the f32 rounding unit, for this row's data. x is the
// row; weight and bias are empty where the problem has none. Infinite where the exact row is not finite.
std::vector<double> error_bounds(const NormProblem &problem, std::span<const float> x,
                                 std::span<const float> weight, std::span<const float> bias, float epsilon);

}  // namespace normforge
