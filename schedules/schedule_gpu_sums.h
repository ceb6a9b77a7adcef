#pragma once

#include "Halide.h"
#include "schedules/schedule_gpu.h"

namespace normforge {

// The named Funcs of the sums of dweight and dbias over all slices, as generators/gpu_sums defines them. Of the
// variables, l is a value of a block's, p a part of the slices and b the block.
struct SumStages {
    Halide::Var l{"l"}, p{"p"}, b{"b"};
    Halide::Func of_thread;  // (l, p, b) the sum of a part, by update 0 over its slices
    Halide::Func of_part;    // (l, p, b) the same, for others to read
    Halide::Func total;      // (l, b) by update 0 over the parts
    Halide::Func sums;       // (i) as they are stored, written by update 0
    Halide::RVar slice, value, block;
};

// What a block sums: so many values, by a warp for each part of their slices.
constexpr int kSumValues = 32;
constexpr int kSumParts = 32;

// The order of the sums is the same in every form.
void schedule_gpu_sums(SumStages &stages, GpuForm form);

}  // namespace normforge
