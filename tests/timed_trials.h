#pragma once

#include <string>
#include <vector>

#include "autotune/base/trial.h"

namespace normforge {

// A trial that was measured: one sample of each ratio to the reference, which took 100 ns.
struct TimedTrial {
    std::string knobs;
    int64_t rows = 1;
    std::string digest = "d";
    std::vector<double> ratios = {};
    int64_t code_bytes = 1000;
    TrialStatus status = TrialStatus::ok;

    operator Trial() const {
        Trial trial{};
        trial.knobs = knobs;
        trial.rows = rows;
        trial.status = status;
        trial.output_digest = digest;
        trial.code_bytes = code_bytes;
        for (double ratio : ratios) {
            const int block = static_cast<int>(trial.samples.size());
            trial.samples.push_back(
                {.block = block, .position = 0, .calls = 1, .ns = 100 * ratio, .reference_ns = 100});
        }
        return trial;
    }
};

}  // namespace normforge
