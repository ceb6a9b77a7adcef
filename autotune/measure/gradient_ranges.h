#pragma once

#include <vector>

#include "autotune/measure/value_ranges.h"

namespace normforge {

// The backward part of value_ranges: dx and dresidual row by row, and the sums over all of them.
class GradientRanges {
public:
    GradientRanges(const NormProblem &problem, MergedIn merged);

    // The arguments are those of one row.
    void append_row(const nf_arguments &arguments, OperandRanges &ranges);
    void append_sums(OperandRanges &ranges) const;

private:
    // Of one value of dweight or dbias.
    struct Sum {
        double expected = 0;
        double low = 0;
        double high = 0;
        double magnitudes = 0;  // of its terms
    };
    void append_sum(OperandId id, const std::vector<Sum> &sums, OperandRanges &ranges) const;

    const NormProblem &problem_;
    const MergedIn merged_;
    int64_t rows_ = 0;
    std::vector<Sum> weight_sums_;
    std::vector<Sum> bias_sums_;
};

}  // namespace normforge
