#pragma once

#include <span>

namespace normforge {

// Statistics that a few samples, disturbed by whatever else the machine did, cannot move.

// The middle value, or the mean of the two middle ones. NaN for no values.
double median(std::span<const double> values);

// The median's own uncertainty, as two standard errors, from the median absolute deviation: 1.4826 times that is
// the standard deviation of normally distributed values. Infinite for fewer than two values.
double median_uncertainty(std::span<const double> values);

}  // namespace normforge
