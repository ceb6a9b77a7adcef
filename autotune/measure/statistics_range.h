#pragma once

#include <span>

#include "runtime/norm_problem.h"

namespace normforge {

// What a right kernel's statistics of a row may be: the worst case of the arithmetic that docs/numerics.md
// describes, over all schedules, first order in the f32 rounding unit.
struct StatisticsRange {
    double mean_error;           // of the mean that is taken off, kept as two f32 numbers
    double rstd_low, rstd_high;  // before they are rounded to f32
};

// h is the row, finite, and mean its exact mean, 0 for rms_norm.
StatisticsRange statistics_range(const NormProblem &problem, std::span<const double> h, double mean,
                                 double epsilon);

}  // namespace normforge
