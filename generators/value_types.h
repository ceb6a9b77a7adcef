#pragma once

#include "Halide.h"
#include "runtime/norm_problem.h"

namespace normforge {

// How values of a type lie in a kernel's buffers: 16-bit floats and f8e4m3 as unsigned integers. Halide's own half
// floats do not pass all of its back ends.
Halide::Type stored_type(nf_dtype dtype);

// Stored values to f32, exactly, and back, to the nearest with ties to even, as runtime/float_types.h defines it:
// the same bits on every target. A NaN stays one; in i8 it is 0.
class ValueConversion {
public:
    // Whether the target has instructions that convert f16 and give those bits.
    explicit ValueConversion(bool converts_f16) : converts_f16_(converts_f16) {}

    Halide::Expr to_f32(const Halide::Expr &stored, nf_dtype dtype) const;
    Halide::Expr from_f32(const Halide::Expr &value, nf_dtype dtype) const;

    // The nearest value of the type, as f32; with NF_NONE the value itself.
    Halide::Expr rounded(const Halide::Expr &value, nf_dtype dtype) const;

private:
    bool converts_f16_;
};

// select() of floats any of which may be a NaN, chosen or not. Halide 21 tells LLVM that a plain one has none,
// even under strict_float, and LLVM then drops the branch that would have caught it.
Halide::Expr select_any(const Halide::Expr &condition, const Halide::Expr &a, const Halide::Expr &b);

}  // namespace normforge
