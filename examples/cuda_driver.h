/* What cuda_streams.c calls of the CUDA driver, opened at run time, so that it compiles and starts on machines
 * without CUDA. A program that is built with CUDA's own headers includes <cuda.h> in place of this file, and may
 * use the calls of cudaStream_t and cudaEvent_t as well. */
#ifndef CUDA_DRIVER_H
#define CUDA_DRIVER_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef int CUresult; /* 0 is success */
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphExec_st *CUgraphExec;

enum { CU_STREAM_NON_BLOCKING = 1, CU_EVENT_DISABLE_TIMING = 2, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1 };

/* Each function's name, its name in the driver, and its parameters. */
#define CUDA_FUNCTIONS(FUNCTION)                                                                                  \
    FUNCTION(cuInit, "cuInit", (unsigned flags))                                                                  \
    FUNCTION(cuDeviceGet, "cuDeviceGet", (CUdevice * device, int number))                                         \
    FUNCTION(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (CUcontext * context, CUdevice device))        \
    FUNCTION(cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (CUdevice device))                        \
    FUNCTION(cuCtxSetCurrent, "cuCtxSetCurrent", (CUcontext context))                                             \
    FUNCTION(cuMemAlloc, "cuMemAlloc_v2", (CUdeviceptr * memory, size_t bytes))                                   \
    FUNCTION(cuMemFree, "cuMemFree_v2", (CUdeviceptr memory))                                                     \
    FUNCTION(cuMemAllocHost, "cuMemAllocHost_v2", (void **memory, size_t bytes))                                  \
    FUNCTION(cuMemFreeHost, "cuMemFreeHost", (void *memory))                                                      \
    FUNCTION(cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2",                                                           \
             (CUdeviceptr to, const void *from, size_t bytes, CUstream stream))                                   \
    FUNCTION(cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2",                                                           \
             (void *to, CUdeviceptr from, size_t bytes, CUstream stream))                                         \
    FUNCTION(cuStreamCreate, "cuStreamCreate", (CUstream * stream, unsigned flags))                               \
    FUNCTION(cuStreamDestroy, "cuStreamDestroy_v2", (CUstream stream))                                            \
    FUNCTION(cuStreamSynchronize, "cuStreamSynchronize", (CUstream stream))                                       \
    FUNCTION(cuStreamWaitEvent, "cuStreamWaitEvent", (CUstream stream, CUevent event, unsigned flags))            \
    FUNCTION(cuEventCreate, "cuEventCreate", (CUevent * event, unsigned flags))                                   \
    FUNCTION(cuEventRecord, "cuEventRecord", (CUevent event, CUstream stream))                                    \
    FUNCTION(cuEventDestroy, "cuEventDestroy_v2", (CUevent event))                                                \
    FUNCTION(cuStreamBeginCapture, "cuStreamBeginCapture_v2", (CUstream stream, int mode))                        \
    FUNCTION(cuStreamEndCapture, "cuStreamEndCapture", (CUstream stream, CUgraph * graph))                        \
    FUNCTION(cuGraphInstantiate, "cuGraphInstantiateWithFlags",                                                   \
             (CUgraphExec * executable, CUgraph graph, unsigned long long flags))                                 \
    FUNCTION(cuGraphLaunch, "cuGraphLaunch", (CUgraphExec executable, CUstream stream))                           \
    FUNCTION(cuGraphExecDestroy, "cuGraphExecDestroy", (CUgraphExec executable))                                  \
    FUNCTION(cuGraphDestroy, "cuGraphDestroy", (CUgraph graph))

typedef struct CudaDriver {
#define FUNCTION(name, symbol, parameters) CUresult(*name) parameters;
    CUDA_FUNCTIONS(FUNCTION)
#undef FUNCTION
} CudaDriver;

/* Whether there is a driver that has all of them. It stays open until the program ends. */
static int open_cuda_driver(CudaDriver *driver) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    void *function;
    int missing = 0;
    if (!library) {
        return 0;
    }
#define FUNCTION(name, symbol, parameters)                                                                        \
    function = dlsym(library, symbol);                                                                            \
    memcpy(&driver->name, &function, sizeof function);                                                            \
    missing += !function;
    CUDA_FUNCTIONS(FUNCTION)
#undef FUNCTION
    return !missing;
}

#endif
