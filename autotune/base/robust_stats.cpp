#include "autotune/base/robust_stats.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace normforge {

double median(std::span<const double> values) {
    if (values.empty()) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    std::vector<double> sorted(values.begin(), values.end());
    std::ranges::sort(sorted);
    return (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2;
}

double median_uncertainty(std::span<const double> values) {
    if (values.size() < 2) {
        return std::numeric_limits<double>::infinity();
    }
    const double middle = median(values);
    std::vector<double> deviations;
    for (double value : values) {
        deviations.push_back(std::abs(value - middle));
    }
    return 2 * 1.4826 * median(deviations) / std::sqrt(static_cast<double>(values.size()));
}

}  // namespace normforge
