#include "runtime/cuda_driver.h"

#include <dlfcn.h>

#include <cstring>

namespace normforge {

namespace {

constexpr int kComputeCapabilityMajor = 75;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
constexpr int kComputeCapabilityMinor = 76;
constexpr int64_t kLeastCapability = 80;

template <typename Function>
bool find(void *library, const char *name, Function *&function) {
    void *symbol = dlsym(library, name);
    std::memcpy(&function, &symbol, sizeof function);
    return symbol != nullptr;
}

}  // namespace

nf_status open_cuda_driver(CudaDriver &driver) {
    driver = {};
    driver.library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!driver.library) {
        return NF_ERROR_NO_CUDA;
    }
    void *library = driver.library;
    const bool has_all = find(library, "cuInit", driver.cuInit) &&
                         find(library, "cuCtxGetCurrent", driver.cuCtxGetCurrent) &&
                         find(library, "cuCtxGetDevice", driver.cuCtxGetDevice) &&
                         find(library, "cuDeviceGetAttribute", driver.cuDeviceGetAttribute) &&
                         find(library, "cuModuleLoadData", driver.cuModuleLoadData) &&
                         find(library, "cuModuleUnload", driver.cuModuleUnload) &&
                         find(library, "cuModuleGetFunction", driver.cuModuleGetFunction) &&
                         find(library, "cuFuncSetAttribute", driver.cuFuncSetAttribute) &&
                         find(library, "cuLaunchKernel", driver.cuLaunchKernel);
    nf_status status = NF_SUCCESS;
    if (!has_all) {
        status = NF_ERROR_CUDA_TOO_OLD;
    } else if (driver.cuInit(0) != kCudaSuccess) {
        status = NF_ERROR_NO_CUDA;
    }
    if (status != NF_SUCCESS) {
        close_cuda_driver(driver);
    }
    return status;
}

void close_cuda_driver(CudaDriver &driver) {
    if (driver.library) {
        dlclose(driver.library);
    }
    driver = {};
}

nf_status check_cuda_context(const CudaDriver &driver, int64_t &capability) {
    CudaContext *context = nullptr;
    int device = 0;
    int major = 0;
    int minor = 0;
    if (driver.cuCtxGetCurrent(&context) != kCudaSuccess || !context ||
        driver.cuCtxGetDevice(&device) != kCudaSuccess) {
        return NF_ERROR_NO_CUDA_CONTEXT;
    }
    const bool is_known = driver.cuDeviceGetAttribute(&major, kComputeCapabilityMajor, device) == kCudaSuccess &&
                          driver.cuDeviceGetAttribute(&minor, kComputeCapabilityMinor, device) == kCudaSuccess;
    capability = int64_t{10} * major + minor;
    return is_known && capability >= kLeastCapability ? NF_SUCCESS : NF_ERROR_CUDA_TOO_OLD;
}

}  // namespace normforge
