#pragma once

#include <array>
#include <vector>

#include "autotune/measure/statistics_range.h"
#include "runtime/operands.h"

namespace normforge {

// What a right kernel may write in one place: numbers of the operand's type. All are a NaN where it must write
// one, and low and high are infinite where nothing can be said.
struct ValueRange {
    float expected;  // the exact value, rounded once
    float low;
    float high;

    bool contains(float value) const;
    bool is_anything() const;
    // The distance from the expected value over the largest allowed on that side, 0 at that value; at most 1 for
    // what the range contains.
    double error_ratio(float value) const;
};

// By operand, in the order of rows and values without gaps; empty for what the problem does not write.
using OperandRanges = std::array<std::vector<ValueRange>, kOperandCount>;

// Of what a call writes, from what it reads. The arithmetic that docs/numerics.md describes is followed from step
// to step: the worst case of f32, first order in its rounding unit and for the data at hand, and exactly the
// roundings that the problem asks for. Of a quantised output these are the values before they are divided by their
// scale.
OperandRanges value_ranges(const NormProblem &problem, const nf_arguments &arguments,
                           MergedIn merged = MergedIn::f64);

// What a value of that range may become where it is divided by the scale and stored.
ValueRange quantised(const ValueRange &range, nf_dtype type, float scale);

// Where nothing can be said.
ValueRange anything(double expected);

// From numbers between which a kernel's f32 lies, and the exact one.
ValueRange rounded_range(nf_dtype type, double expected, double low, double high);

}  // namespace normforge
