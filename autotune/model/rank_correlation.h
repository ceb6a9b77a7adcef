#pragma once

#include <span>

namespace normforge {

// Spearman's: of the ranks, where equal values share the mean of theirs. NaN for fewer than two values, or where
// all of one side are equal.
double rank_correlation(std::span<const double> a, std::span<const double> b);

}  // namespace normforge
