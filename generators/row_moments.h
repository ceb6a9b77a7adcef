#pragma once

#include "Halide.h"
#include "schedules/norm_stages.h"

namespace normforge {

// The row that a pass reads: x(i, r), its hidden size, and the lanes (a power of two) over which it is summed.
struct RowReading {
    Halide::Func x;
    int hidden;
    int lanes;
};

// Each reads the row once. Lanes sum in f32; their sums are merged in f64, so a row's rounding error is that of a
// lane's run of at most 128 values, whatever the hidden size.

// total(r): sum of x.
RowPass sum_of_values(const NormVars &vars, const RowReading &reading);

// total(r): sum of x^2.
RowPass sum_of_squares(const NormVars &vars, const RowReading &reading);

// total(r): {sum of (x-p), sum of (x-p)^2}, with p = row_pivot(r), f32.
RowPass moments_about_row_pivot(const NormVars &vars, const RowReading &reading, const Halide::Func &row_pivot);

// The same with p = reference(r), from lanes that each have a pivot of their own: the median of the lane's first
// three values in the chunk, so that a lone outlier is never a pivot. Needs hidden >= 3 * lanes.
RowPass moments_about_lane_pivots(const NormVars &vars, const RowReading &reading);

}  // namespace normforge
