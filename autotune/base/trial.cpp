#include "autotune/base/trial.h"

#include "autotune/base/robust_stats.h"

namespace normforge {

double median_ratio(const Trial &trial) {
    std::vector<double> ratios;
    for (const Sample &sample : trial.samples) {
        ratios.push_back(sample.ns / sample.reference_ns);
    }
    return median(ratios);
}

}  // namespace normforge
