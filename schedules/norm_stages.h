#pragma once

#include <optional>
#include <vector>

#include "Halide.h"
#include "schedules/value_pairs.h"

namespace normforge {

// The named Funcs of one norm, as generators/norm_algorithm defines them and the schedules arrange them.
// Their variables: i a value of the row, r the row, l a lane, c a chunk of the row.
struct NormVars {
    Halide::Var i{"i"}, r{"r"}, l{"l"}, c{"c"};
};

// How one run of steps over a row is summed: in every step each lane takes one value. A long row is cut into
// chunks of such runs, so that a lane's rounding error does not grow with the row.
struct LaneRun {
    Halide::Func lanes;  // (l, c, r) f32 sums; update 0 takes the full steps, update 1 the tail
    Halide::RVar step;   // of update 0
    Halide::RVar tail;   // of update 1
    int extent;          // of l: a lane, or two that are neighbours, whose values the Funcs then have side by side
    int tail_extent;     // of those that take one value more; there is no update 1 when it is 0
    // (l, c, r) f64 moments; each Func has half the extent of the one before it, down to one. Where l stands for
    // two lanes, one more makes one of them.
    std::vector<Halide::Func> tree;
};

// One reading of the row.
struct RowPass {
    Halide::Func pivot;  // (r) f32, what the values are taken about where that is one of them; else undefined
    LaneRun chunk;       // every full chunk; its Funcs are undefined for a row of one run
    LaneRun last;        // the rest of the row
    Halide::Func sums;   // (r) f64 moments of the row; if there are chunks, update 0 adds these, 1 the rest
    Halide::Func total;  // (r) the same, and the pivot
    Halide::RVar chunk_index;
};

// Sums that few rows need, within the branch around an update of these rows' value.
struct RareSums {
    Halide::Func
        lanes;   // (l, r) f64; update 0 begins, update 1 takes the full steps if there are any, the last the rest
    int extent;  // of l
    std::optional<Halide::RVar> step;  // of update 1
    Halide::Func of;                   // (r): whose update needs them
    Halide::RVar once;                 // of that update
};

// How an update writes a row: steps of vectors, or of pairs of them whose values lie by turns.
struct WrittenRow {
    Halide::RVar lane, of_pair, vector_index, step;  // the innermost first
};

struct NormStages {
    ValuePairs pairs;  // what the stages were defined for
    NormVars vars;
    std::vector<RowPass> passes;
    std::vector<Halide::Func> row_values;  // (r) what all values of a row share
    std::vector<RareSums> rare_sums;
    std::vector<Halide::Func> block_values;  // (r / block) of blocks of rows; update 0 goes over a block's rows
    // What the problem writes; a Tuple where it is of several operands, undefined where it is of none.
    Halide::Func rows;   // (i, r); backward: of the sums over rows too, whose rows are one
    Halide::Func saved;  // (r), beside each row
    WrittenRow written;  // of rows' update 0, where rows are written from their end; else undefined
    // Backward, whose rows are written down their columns, by update 0 and with the sums over rows: (r) what those
    // need of the row. At most slice_rows rows come at once.
    Halide::Func slice_values;
    int slice_rows;
};

}  // namespace normforge
