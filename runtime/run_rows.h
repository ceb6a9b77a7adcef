#pragma once

#include "runtime/gradient_sums.h"
#include "runtime/kernel_table.h"

namespace normforge {

// Kernels count values in 31 bits, so an entry gets no more rows at once than such a count can reach.
inline constexpr uint64_t kReach = INT32_MAX;

// A call with all that is decided once for it. Everything is checked, and there are rows.
struct CheckedCall {
    const NormProblem &problem;
    const nf_arguments &arguments;
    void (*entry)(const nf_arguments *);
    int64_t rows_at_once;  // of a group, within kReach
};

CheckedCall checked_call(const nf_kernel &kernel, const nf_arguments &arguments, uint64_t longest_row_stride);

// Of forward, the rows from first to before end, counted over all groups.
void run_rows(const CheckedCall &call, int64_t first, int64_t end);

// How many slices the rows of all groups are cut into; a slice is of one group.
int64_t gradient_slices(const NormProblem &problem, const nf_arguments &arguments);

// Of backward, the slices from first to before end, counted over all groups. sums gets them one after the other.
void run_slices(const CheckedCall &call, int64_t first, int64_t end, GradientSums &sums);

}  // namespace normforge
