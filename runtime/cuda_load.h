#pragma once

#include "runtime/cuda_driver.h"
#include "runtime/cuda_table.h"

namespace normforge {

struct LoadedCode {
    CudaModule *module;
    CudaFunction *function;
};

}  // namespace normforge

struct nf_cuda_kernel {
    const nf_cuda_entry *entry;
    const normforge::CudaDriver *driver;
    normforge::LoadedCode codes[normforge::kMostCudaCodes];
    normforge::LoadedCode sums;
};
