#pragma once

#include <string>
#include <vector>

#include "Halide.h"
#include "runtime/cuda_table.h"

namespace normforge {

// The inputs of a generator of a GPU's gradients that are no operands: NF_CUDA_SLICES and NF_CUDA_CONTINUES.
inline constexpr const char *kSlicesInput = "slices";
inline constexpr const char *kContinuesInput = "continues";

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

// The same of the kernel that adds up backward's partial sums.
GpuLaunch gpu_sums_launch(const Halide::Module &module, const NormProblem &problem);

}  // namespace normforge
