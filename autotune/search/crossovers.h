#pragma once

#include "autotune/search/session_clock.h"
#include "autotune/search/session_kernels.h"

namespace normforge {

// Where one schedule is best for few rows and another for many, times the two at numbers of rows between, halved
// in ratio, to find from which on the other one is. Goes on with those that a resumed session had begun.
void time_crossovers(const TuneRequest &request, const std::string &reference, TrialField &field,
                     SessionKernels &kernels, SessionClock &clock, Progress &progress);

}  // namespace normforge
