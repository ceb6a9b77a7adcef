#pragma once

#include "generators/norm_values.h"

namespace normforge {

// The formulas of the forward pass, of one value or of one row, for every way to sum a row.
class NormFormulas {
public:
    NormFormulas(const NormProblem &problem, const NormValues &values) : problem_(problem), values_(values) {}

    // What a value's distance from the mean is divided by, in the type of mean_square.
    Halide::Expr denominator(const Halide::Expr &mean_square, const Halide::Expr &epsilon) const;

    // A value's distance from a mean of centre + centre_error; the value itself where they are undefined, as for
    // rms_norm.
    static Halide::Expr distance(const Halide::Expr &value, const Halide::Expr &centre,
                                 const Halide::Expr &centre_error);

    // A distance times the row's rstd. Rounded as the problem asks.
    Halide::Expr normalised(const Halide::Expr &distance, const Halide::Expr &rstd) const;

    // Value i of y before it is quantised.
    Halide::Expr with_affine(const Halide::Expr &normalised, const Halide::Expr &i) const;

    // A row's scale, from the largest of its magnitudes as int32: these are in the order of the numbers, with a
    // NaN above all others.
    Halide::Expr row_scale(const Halide::Expr &largest_magnitude) const;

    // What y is stored as; scale is the row's, or undefined.
    Halide::Expr stored_y(const Halide::Expr &y, const Halide::Expr &scale) const;

private:
    const NormProblem &problem_;
    const NormValues &values_;
};

}  // namespace normforge
