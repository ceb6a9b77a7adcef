#pragma once

#include <vector>

#include "autotune/search/ladder.h"
#include "schedules/knobs.h"

namespace normforge {

// Schedules to begin tuning with: what the ladder's entries chose, the nearest first, also of stale ones, as far
// as it is legal for the problem and target; each once.
std::vector<Knobs> tuning_seeds(const KnownDatabases &databases, const NormProblem &problem,
                                const Halide::Target &target);

}  // namespace normforge
