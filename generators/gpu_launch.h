#pragma once

#include <string>
#include <vector>

#include "Halide.h"
#include "runtime/cuda_table.h"

namespace normforge {

// How Halide's code for the host launches a kernel, of which the runtime does the same without that code.
struct GpuLaunch {
    std::vector<nf_cuda_parameter> parameters;
    int64_t threads_x;
    int64_t threads_y;
    int64_t shared_bytes;
};

// Of the only kernel of a module whose pipeline had the pass PlainParameters. The program stops for a module that
// is none.
GpuLaunch gpu_launch(const Halide::Module &module, const NormProblem &problem);

}  // namespace normforge
