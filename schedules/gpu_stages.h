#pragma once

#include <vector>

#include "Halide.h"

namespace normforge {

// The named Funcs of one norm as generators/gpu_norm defines them and schedule_gpu arranges them. Of the
// variables, l is the lane of a warp, w the warp of a row, c the chunk of the row, v the value of a thread's
// vector there and r the row.
struct GpuVars {
    Halide::Var v{"v"}, c{"c"}, l{"l"}, w{"w"}, r{"r"};
};

// Of backward, whose blocks go over slices of the rows: a row of the slice, and the slice.
struct GpuSlices {
    Halide::Var row{"row_of_slice"}, slice{"slice"};
};

// The same in the update that writes rows.
struct GpuWriting {
    Halide::RVar value, chunk, lane, warp;
};

// An update of a thread's value over its values of the row.
struct ThreadUpdate {
    Halide::RVar value, chunk;
    int chunks;
    Halide::Func
        vector;  // (v, c, l, w, r): what the row has, to be read at once; undefined if registers hold it all
};

// (l, w, r): what each thread knows, in its registers.
struct ThreadValue {
    Halide::Func f;
    std::vector<ThreadUpdate> updates;
};

// What threads do between two barriers.
struct GpuSection {
    std::vector<ThreadValue> values;
    Halide::Func total;  // (l, w, r): each warp's, for the sections that follow; undefined in the last one
};

struct GpuStages {
    GpuVars vars;
    GpuSlices slices;
    Halide::Func row;  // (v, c, l, w, r): the row as it is dealt out, as it is stored
    std::vector<GpuSection> sections;
    GpuWriting writing;
};

}  // namespace normforge
