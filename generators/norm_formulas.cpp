#include "generators/norm_formulas.h"

#include "runtime/float_types.h"

namespace normforge {

using namespace Halide;

Expr NormFormulas::denominator(const Expr &mean_square, const Expr &epsilon) const {
    return problem_.epsilon_place == NF_IN_ROOT ? sqrt(mean_square + epsilon) : sqrt(mean_square) + epsilon;
}

Expr NormFormulas::distance(const Expr &value, const Expr &centre, const Expr &centre_error) {
    // The mean's f32 rounding is kept apart and taken off too, so a row of large mean and tiny spread keeps its
    // digits, and a row of equal values gives exactly zero.
    return centre.defined() ? (value - centre) - centre_error : value;
}

Expr NormFormulas::normalised(const Expr &distance, const Expr &rstd) const {
    return values_.rounded(distance * rstd, problem_.normalised);
}

Expr NormFormulas::with_affine(const Expr &normalised, const Expr &i) const {
    Expr value = normalised;
    if (values_.has(OperandId::weight)) {
        value *= values_.weight(i);
    }
    if (values_.has(OperandId::bias)) {
        value += values_.bias(i);
    }
    return values_.rounded(value, problem_.unquantised);
}

Expr NormFormulas::row_scale(const Expr &largest_magnitude) const {
    Expr largest = reinterpret<float>(largest_magnitude);
    Expr scale = largest / Expr(static_cast<float>(largest_value(problem_.output)));
    // Also of a row of zeros, none is so small that a quotient by it is not finite.
    return select_any(is_finite(largest), max(scale, 0x1p-126f), 1.0f);
}

Expr NormFormulas::stored_y(const Expr &y, const Expr &scale) const {
    if (!is_quantised(problem_.output)) {
        return values_.stored(OperandId::y, y);
    }
    return values_.stored(OperandId::y, y / (scale.defined() ? scale : values_.number(OperandId::scale)));
}

}  // namespace normforge
