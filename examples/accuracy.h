#pragma once

#include <cmath>
#include <cstdint>

#include "runtime/normforge.h"

namespace normforge {

struct Accuracy {
    int64_t rows = 0;
    double largest_error = 0;   // absolute
    double largest_ratio = 0;   // of a value's error to its bound
    double largest_output = 0;  // absolute, of the exact result

    bool within_bound() const { return largest_ratio <= 1; }
};

// Compares the output rows of a run (f32, not in place) with two plain passes in f64, and adds what it finds to
// accuracy. A value's bound, with z the normalised value before weight and bias and E the f32 epsilon:
//     E * (sqrt(hidden) * (|z| + 1) * |weight| + |y|)
// A sum of `hidden` terms loses about sqrt(hidden) roundings. That of the squares scales z, hence |z|; that of the
// mean shifts z by a share of the deviation, hence 1 (and 0 for rms_norm). |y| is for the last rounding.
void compare_with_f64(const nf_problem &problem, const nf_arguments &run, Accuracy &accuracy);

}  // namespace normforge
