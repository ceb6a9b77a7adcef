#pragma once

#include "runtime/norm_problem.h"
#include "schedules/gpu_knobs.h"
#include "schedules/gpu_stages.h"
#include "schedules/norm_stages.h"

namespace normforge {

// How the threads of a row know of one another.
enum class GpuForm {
    serial,    // not at all: the same loops are serial ones of a CPU, with the same arithmetic, as a test where no
               // GPU is
    warps,     // by the shuffles of a warp, and barriers between warps
    barriers,  // by memory of the block and barriers alone, as OpenCL has them
};

// That of a target.
GpuForm gpu_form(const Halide::Target &target);

// Arranges the stages for a GPU: a block for a row or for some of them, one thread for each lane. The arithmetic
// is the same in every form. The knobs must have passed check().
void schedule_gpu(NormStages &stages, GpuStages &gpu, const NormProblem &problem, const GpuKnobs &knobs,
                  GpuForm form);

}  // namespace normforge
