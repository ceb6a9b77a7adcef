#pragma once

#include <cstdint>
#include <string>

#include "schedules/gpu_model.h"

namespace normforge {

// A table of all schedules of the problem, the best first, with what the static model makes of each at that number
// of rows.
std::string gpu_ranking(const GpuDevice &device, const NormProblem &problem, int64_t rows);

}  // namespace normforge
