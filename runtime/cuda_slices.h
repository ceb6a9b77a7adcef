#pragma once

#include "runtime/norm_problem.h"

namespace normforge {

// Backward's sums over rows on a GPU. The rows of a group are dealt out to slices in turn: the slice s has the
// rows s, s + slices, and so on. It sums them in that order into a partial sum of gradient_values() f32 each in
// the workspace. All partial sums of all groups are then added in the order in which they lie there. How many
// there are depends on the problem and the rows, not on the device.

// Of a group with that many rows, at least one. Where there is nothing to sum, each row is a slice.
int64_t cuda_slices(const NormProblem &problem, int64_t rows);

// For that many rows in that many groups, both 0 or more; 0 where there is nothing to sum, and INT64_MAX where
// kernels, which count in 31 bits, could not reach all. The threads of a call are the device's: their number is of
// no meaning.
int64_t cuda_workspace_bytes(const NormProblem &problem, int64_t rows, int64_t groups, int64_t threads);

}  // namespace normforge
