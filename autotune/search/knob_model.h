#pragma once

#include <map>
#include <vector>

#include "schedules/knobs.h"

namespace normforge {

// How much each value of each knob, and of a few pairs of them, adds to the logarithm of a schedule's time:
// guesses the times of schedules that were not measured from some that were. Good enough to say what to measure
// next.
class KnobModel {
public:
    // There is at least one schedule; log_times are theirs.
    KnobModel(const std::vector<Knobs> &schedules, std::vector<double> log_times);

    double log_time(const Knobs &knobs) const;

private:
    double mean_ = 0;
    std::vector<std::map<int, double>> effects_;  // by feature and its value
};

}  // namespace normforge
