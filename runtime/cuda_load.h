#pragma once

#include "runtime/cuda_driver.h"
#include "runtime/cuda_table.h"

struct nf_cuda_kernel {
    const nf_cuda_entry *entry;
    const normforge::CudaDriver *driver;
    normforge::CudaModule *modules[normforge::kMostCudaCodes];
    normforge::CudaFunction *functions[normforge::kMostCudaCodes];  // of the entry's codes
};
