#pragma once

#include <vector>

#include "generators/value_types.h"
#include "schedules/schedule_gpu_sums.h"

namespace normforge {

// Backward's last step on a GPU: adds up the partial sums of all slices, and rounds to what is stored. Parts of
// the slices, every kSumParts-th from the first ones on, are summed one after the other, then the parts; each sum
// keeps its rounding errors (Knuth's two-sum) and adds them in the end, so it is as good as one of twice the
// digits however many slices there are. partial is (value, slice) with `hidden` values for each of the types, of
// which there is one or two.
SumStages define_gpu_sums(const Halide::Func &partial, const Halide::Expr &slices, int hidden,
                          const std::vector<nf_dtype> &types, const ValueConversion &conversion);

}  // namespace normforge
