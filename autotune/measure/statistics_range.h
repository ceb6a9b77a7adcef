#pragma once

#include <span>

#include "runtime/norm_problem.h"

namespace normforge {

// How a kernel goes on from the f32 sums of its lanes.
enum class MergedIn {
    f64,  // the CPU's: rows beyond the range of f32's squares are summed once more
    f32,  // a GPU's: rows are brought near 1 by a power of two, so there are none beyond it; see docs/cuda.md
};

// What a right kernel's statistics of a row may be: the worst case of the arithmetic that docs/numerics.md
// describes, over all schedules, first order in the f32 rounding unit.
struct StatisticsRange {
    double mean_error;           // of the mean that is taken off, kept as two f32 numbers
    double rstd_low, rstd_high;  // before they are rounded to f32
};

// h is the row, finite, and mean its exact mean, 0 for rms_norm.
StatisticsRange statistics_range(const NormProblem &problem, std::span<const double> h, double mean,
                                 double epsilon, MergedIn merged = MergedIn::f64);

}  // namespace normforge
