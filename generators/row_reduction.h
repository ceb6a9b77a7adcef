#pragma once

#include <functional>
#include <string>
#include <vector>

#include "Halide.h"
#include "schedules/norm_stages.h"

namespace normforge {

// The values of a Func, be they one or a Tuple.
std::vector<Halide::Expr> elements(const Halide::FuncRef &f);

Halide::Expr median_of_three(const Halide::Expr &a, const Halide::Expr &b, const Halide::Expr &c);

// A row of `hidden` values, taken in turn by `lanes` (a power of two). In pairs, one l stands for two lanes that
// are neighbours; the sums are the same, with the same rounding. Then hidden is even.
struct RowLanes {
    int hidden;
    int lanes;
    bool in_pairs;

    int values_of_l() const { return in_pairs ? 2 : 1; }
};

// What one reading of a row finds.
struct Reduction {
    using Terms = std::vector<Halide::Expr>;

    std::string name;

    // What the value at place i of row r contributes.
    std::function<Terms(const Halide::Expr &i, const Halide::Expr &r)> terms;

    // The terms are f32, which a lane sums in f32, a run of them at a time; runs and lanes are summed in f64. So a
    // row's rounding error is that of a lane's run, whatever the hidden size. Or the terms are int32, and their
    // maximum is found.
    enum Combine { sum, maximum } combine = sum;

    int run = 64;  // up to twice as many where the row ends
};

// total(r): the terms of all values of the row, as a Tuple if there are several.
RowPass reduce_row(const NormVars &vars, const RowLanes &row, const Reduction &reduction);

// total(r): {sum of (x-p), sum of (x-p)^2, p} of the values x(i, r) about p, an f32 number: the median of the
// row's first three values, so that a lone outlier is never the pivot. Where p is many deviations from the mean,
// the sums have lost digits.
RowPass moments_about_row_pivot(const NormVars &vars, const RowLanes &row, const Halide::Func &x);

}  // namespace normforge
