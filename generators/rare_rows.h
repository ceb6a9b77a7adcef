#pragma once

#include <functional>
#include <string>

#include "generators/norm_values.h"

namespace normforge {

// Rows that are not the usual ones, and values of rows that are found in another way for these alone: by updates
// that run for them only, which become a branch around them, where a select would wait for both ways.
class RareRows {
public:
    // is_usual is a condition of the row stages.vars.r, false for a NaN.
    // Where statistics are computed for a block of rows, blocks of usual rows take one branch.
    RareRows(NormStages &stages, const Halide::Expr &is_usual, int hidden, int block = 1);

    // (r): a float, `usual` or else `rare`.
    Halide::Func value(const std::string &name, const Halide::Expr &usual, const Halide::Expr &rare);

    // (r), f64: `usual`, or else the mean over the row of term(place), summed in f64 by as many lanes on every
    // target.
    Halide::Func mean(const std::string &name, const Halide::Expr &usual,
                      const std::function<Halide::Expr(const Halide::Expr &place)> &term);

    // Whether the row is a usual one or, where there are blocks, all rows of its block are.
    const Halide::Expr &all_usual() const { return all_usual_; }

private:
    void restrict(Halide::RDom &domain) const;

    NormStages &stages_;
    const int hidden_;
    Halide::RDom once_;
    Halide::Expr all_usual_, is_usual_;
};

// Whether holds(r) is true of the row stages.vars.r or, where rows come in blocks, of all rows of its block.
Halide::Expr all_of_block(NormStages &stages, const Halide::Func &holds, int block);

}  // namespace normforge
