#include "autotune/measure/lane_sums.h"

#include <cmath>

namespace normforge {

double lane_mean_error(std::span<const double> terms, double term_roundings) {
    double worst = 0;
    for_each_lanes(terms.size(), [&](size_t lanes) {
        double partial_sums = 0;
        for_each_run(terms.size(), lanes, [&](const LaneRun &run) {
            double sum = 0;
            for (size_t step = 0; step < run.count; step++) {
                sum += terms[run.place(step)];
                partial_sums += std::fabs(sum);
            }
        });
        worst = std::max(worst, partial_sums);
    });
    for (double term : terms) {
        worst += term_roundings * std::fabs(term);
    }
    const double underflow = term_roundings > 0 ? kF32Smallest : 0;
    return kF32Rounding * worst / static_cast<double>(terms.size()) + underflow;
}

}  // namespace normforge
