#include "autotune/model/rank_correlation.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace normforge {

namespace {

std::vector<double> ranks(std::span<const double> values) {
    std::vector<double> sorted(values.begin(), values.end());
    std::ranges::sort(sorted);
    std::vector<double> result;
    for (const double value : values) {
        const auto equal = std::ranges::equal_range(sorted, value);
        const auto below = static_cast<double>(equal.begin() - sorted.begin());
        result.push_back(below + static_cast<double>(equal.size() - 1) / 2);
    }
    return result;
}

}  // namespace

double rank_correlation(std::span<const double> a, std::span<const double> b) {
    const std::vector<double> ranks_a = ranks(a);
    const std::vector<double> ranks_b = ranks(b);
    const double mean = (static_cast<double>(a.size()) - 1) / 2;
    double product = 0, square_a = 0, square_b = 0;
    for (size_t i = 0; i < a.size(); i++) {
        product += (ranks_a[i] - mean) * (ranks_b[i] - mean);
        square_a += (ranks_a[i] - mean) * (ranks_a[i] - mean);
        square_b += (ranks_b[i] - mean) * (ranks_b[i] - mean);
    }
    return product / std::sqrt(square_a * square_b);
}

}  // namespace normforge
