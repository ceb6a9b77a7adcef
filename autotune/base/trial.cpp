#include "autotune/base/trial.h"

#include <algorithm>

#include "autotune/base/robust_stats.h"

namespace normforge {

std::vector<double> sample_ratios(const Trial &trial) {
    std::vector<double> ratios;
    for (const Sample &sample : trial.samples) {
        ratios.push_back(sample.ns / sample.reference_ns);
    }
    return ratios;
}

double median_ratio(const Trial &trial) {
    return median(sample_ratios(trial));
}

double median_of(const Trial &trial, double Sample::*field) {
    std::vector<double> values;
    for (const Sample &sample : trial.samples) {
        values.push_back(sample.*field);
    }
    return median(values);
}

size_t most_samples(const std::vector<Trial> &trials, int64_t rows) {
    size_t most = 0;
    for (const Trial &trial : trials) {
        if (trial.rows == rows && trial.status == TrialStatus::ok) {
            most = std::max(most, trial.samples.size());
        }
    }
    return most;
}

}  // namespace normforge
