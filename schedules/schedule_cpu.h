#pragma once

#include <vector>

#include "Halide.h"
#include "runtime/norm_problem.h"
#include "schedules/knobs.h"
#include "schedules/norm_stages.h"

namespace normforge {

// Arranges the stages for a CPU: serial over the rows, each row's sums just before its values, all scratch of
// constant size on the stack. A gradient's sums over rows stand between the rows' sums and their values, so there
// it is all rows of a slice each time. `streams` are the rows that are read, for prefetching. The knobs must have
// passed check().
void schedule_cpu(NormStages &stages, const NormProblem &problem, const Knobs &knobs,
                  const std::vector<Halide::ImageParam> &streams);

}  // namespace normforge
