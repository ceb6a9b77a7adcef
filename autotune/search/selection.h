#pragma once

#include <string>
#include <vector>

#include "autotune/base/trial.h"

namespace normforge {

// Below this a difference is not worth having, however exactly it was measured.
inline constexpr double kLeastGain = 0.01;

// A schedule chosen for one number of rows.
struct Choice {
    int64_t rows;
    std::string knobs;
    double ratio;        // its time over the reference's, the median of paired samples; below 1 is faster
    double nanoseconds;  // a call, the median
    double reference_nanoseconds;
};

struct Selection {
    std::vector<Choice> choices;  // by rising rows; all give the same bits
    std::string output_digest;
    double noise;  // the largest of the numbers of rows': a ratio this near to another is a tie
    bool complete() const { return !choices.empty(); }
};

// The best schedules of a session's trials, one for each number of rows. They must give equal bits, so that a
// row's result does not depend on how many rows there are: the choice is between the trials' output digests, by
// the geometric mean over the numbers of rows of each one's best ratio. Only trials with as many samples as the
// best sampled one of their rows take part. `reference_knobs` are the untuned schedule's: they stay unless beaten
// by more than the noise at their number of rows and 1 %. Ties go to the smaller code, then to the knobs' text, so
// equal trials give equal choices. Not complete if no trial qualifies.
Selection select_best(const std::vector<Trial> &trials, const std::string &reference_knobs);

}  // namespace normforge
