#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/normforge.h"

// The CUDA driver, opened at run time: a library with CUDA kernels needs neither CUDA's headers nor a driver to be
// built, linked or loaded.

namespace normforge {

using CudaResult = int;  // 0 is success
inline constexpr CudaResult kCudaSuccess = 0;

struct CudaModule;
struct CudaFunction;
struct CudaContext;

// The entry points that the runtime calls, as the driver's own header declares them.
struct CudaDriver {
    void *library;  // of dlopen
    CudaResult (*cuInit)(unsigned flags);
    CudaResult (*cuCtxGetCurrent)(CudaContext **context);
    CudaResult (*cuCtxGetDevice)(int *device);
    CudaResult (*cuDeviceGetAttribute)(int *value, int attribute, int device);
    CudaResult (*cuModuleLoadData)(CudaModule **module, const void *image);
    CudaResult (*cuModuleUnload)(CudaModule *module);
    CudaResult (*cuModuleGetFunction)(CudaFunction **function, CudaModule *module, const char *name);
    CudaResult (*cuFuncSetAttribute)(CudaFunction *function, int attribute, int value);
    CudaResult (*cuLaunchKernel)(CudaFunction *function, unsigned blocks_x, unsigned blocks_y, unsigned blocks_z,
                                 unsigned threads_x, unsigned threads_y, unsigned threads_z, unsigned shared_bytes,
                                 void *stream, void **parameters, void **extra);
};

// NF_ERROR_NO_CUDA: there is no driver, or none with a device. NF_ERROR_CUDA_TOO_OLD: it lacks an entry point.
nf_status open_cuda_driver(CudaDriver &driver);

void close_cuda_driver(CudaDriver &driver);

// Whether the calling thread's context is on a device whose compute capability is at least 8.0: NF_SUCCESS, and it
// is 10 * major + minor; NF_ERROR_NO_CUDA_CONTEXT where it has none, or NF_ERROR_CUDA_TOO_OLD.
nf_status check_cuda_context(const CudaDriver &driver, int64_t &capability);

}  // namespace normforge
