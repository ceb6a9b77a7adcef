#pragma once

#include <cstdint>
#include <vector>

#include "schedules/gpu_model.h"

namespace normforge {

// To measure, all schedules are candidates. To choose by the model's word alone, those are not that it thinks
// slower than the heuristic's at some of the numbers of rows: one schedule is to serve them all, so what it gains
// at others is no reason to take it. Nor is one that it thinks as fast as an earlier one.
enum class GpuChoice { by_measurement, by_model };

// The heuristic's schedule, then those that the model thinks best over all these numbers of rows; of equal ones
// first what waits less, and then what reads more at once.
std::vector<GpuKnobs> gpu_candidates(const GpuDevice &device, const NormProblem &problem,
                                     const std::vector<int64_t> &rows, size_t most, GpuChoice choice);

}  // namespace normforge
