#pragma once

#include "runtime/norm_problem.h"
#include "schedules/gpu_knobs.h"
#include "schedules/gpu_stages.h"
#include "schedules/norm_stages.h"

namespace normforge {

// Arranges the stages for a GPU: a block for a row or for some of them, one thread for each lane. Without
// on_device the same loops are serial ones of the CPU, with the same arithmetic: that is how it is tested where no
// GPU is. The knobs must have passed check().
void schedule_gpu(NormStages &stages, GpuStages &gpu, const NormProblem &problem, const GpuKnobs &knobs,
                  bool on_device);

}  // namespace normforge
