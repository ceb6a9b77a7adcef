#pragma once

#include "Halide.h"
#include "runtime/norm_problem.h"
#include "schedules/knobs.h"
#include "schedules/norm_stages.h"

namespace normforge {

// Arranges the stages for a CPU: serial over the rows, each row's sums just before its values, all scratch of
// constant size on the stack. `x` is the input, for prefetching. The knobs must have passed check().
void schedule_cpu(NormStages &stages, const NormProblem &problem, const Knobs &knobs, const Halide::ImageParam &x);

}  // namespace normforge
