#include "tests/cuda_stub.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/cuda_stub_streams.h"

namespace normforge {

CudaStub &cuda_stub() {
    static CudaStub stub;
    return stub;
}

namespace {

int result_of(const char *call) {
    cuda_stub().calls.emplace_back(call);
    return cuda_stub().failing_call == call ? cuda_stub().failure : 0;
}

}  // namespace

}  // namespace normforge

using namespace normforge;

extern "C" {

int cuInit(unsigned) {
    return result_of("cuInit");
}

int cuCtxGetCurrent(void **context) {
    *context = cuda_stub().has_context ? &cuda_stub() : nullptr;
    return result_of("cuCtxGetCurrent");
}

int cuCtxGetDevice(int *device) {
    *device = 0;
    return result_of("cuCtxGetDevice");
}

int cuDeviceGetAttribute(int *value, int attribute, int) {
    constexpr int kMinor = 76;
    *value = attribute == kMinor ? cuda_stub().minor_capability : cuda_stub().compute_capability;
    return result_of("cuDeviceGetAttribute");
}

int cuModuleLoadData(void **module, const void *image) {
    const auto *text = static_cast<const char *>(image);
    const int result = text == cuda_stub().refused_image ? 200 : result_of("cuModuleLoadData");
    if (result == 0) {
        *module = const_cast<void *>(image);
        cuda_stub().modules++;
        cuda_stub().images.push_back(text);
    }
    return result;
}

int cuModuleUnload(void *) {
    cuda_stub().modules--;
    return result_of("cuModuleUnload");
}

// A function is its name.
int cuModuleGetFunction(void **function, void *, const char *name) {
    *function = const_cast<char *>(name);
    return result_of("cuModuleGetFunction");
}

int cuFuncSetAttribute(void *, int, int) {
    return result_of("cuFuncSetAttribute");
}

int cuLaunchKernel(void *function, unsigned blocks_x, unsigned, unsigned, unsigned threads_x, unsigned threads_y,
                   unsigned, unsigned shared_bytes, void *stream, void **parameters, void **) {
    const int result = result_of("cuLaunchKernel");
    if (result == 0) {
        const StubLaunch launch{
            static_cast<const char *>(function), blocks_x, threads_x, threads_y, shared_bytes, stream, parameters};
        cuda_stub().launches.push_back(launch);
        if (cuda_stub().prepare) {
            submit(stream, cuda_stub().prepare(launch));
        } else if (cuda_stub().run) {
            cuda_stub().run(launch);
        }
    }
    return result;
}

// What measuring and examples/cuda_streams.c call beside the runtime. Memory of the device is the program's own.

int cuDriverGetVersion(int *version) {
    *version = 13000;
    return 0;
}

int cuDeviceGet(int *device, int) {
    *device = 0;
    return 0;
}

int cuDeviceGetName(char *name, int size, int) {
    std::snprintf(name, static_cast<size_t>(size), "stub");
    return 0;
}

int cuDevicePrimaryCtxRetain(void **context, int) {
    *context = &cuda_stub();
    return 0;
}

int cuDevicePrimaryCtxRelease_v2(int) {
    return 0;
}

int cuCtxSetCurrent(void *) {
    return 0;
}

int cuCtxSynchronize() {
    return 0;
}

int cuMemAlloc_v2(void **memory, size_t bytes) {
    *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    return *memory ? 0 : 2;
}

int cuMemFree_v2(void *memory) {
    std::free(memory);
    return 0;
}

int cuMemAllocHost_v2(void **memory, size_t bytes) {
    return cuMemAlloc_v2(memory, bytes);
}

int cuMemFreeHost(void *memory) {
    return cuMemFree_v2(memory);
}

int cuMemcpyHtoD_v2(void *to, const void *from, size_t bytes) {
    std::memcpy(to, from, bytes);
    return 0;
}

int cuMemcpyDtoH_v2(void *to, const void *from, size_t bytes) {
    std::memcpy(to, from, bytes);
    return 0;
}

int cuMemcpyDtoDAsync_v2(void *to, const void *from, size_t bytes, void *) {
    if (cuda_stub().copies_on_device) {
        std::memcpy(to, from, bytes);
    }
    return 0;
}

}  // extern "C"
