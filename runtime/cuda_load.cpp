#include "runtime/cuda_load.h"

#include <cstdlib>

#include "runtime/kernel_table.h"

struct nf_cuda {
    normforge::CudaDriver driver;
    int64_t kernel_count;
    nf_cuda_kernel *kernels;
};

namespace normforge {

namespace {

constexpr int kMaxDynamicSharedBytes = 8;           // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
constexpr int64_t kSharedBytesOfOldest = 48 << 10;  // which need no leave

// The driver's words for PTX of a later release, and for a device that the code does not fit.
constexpr CudaResult kNoBinaryForGpu = 209;
constexpr CudaResult kUnsupportedPtx = 222;

// The newest cubin that runs on a device of that capability, or null.
const char *cubin_for(const nf_cuda_code &code, int64_t capability) {
    const nf_cuda_cubin *best = nullptr;
    for (int64_t index = 0; index < code.cubin_count; index++) {
        const nf_cuda_cubin &cubin = code.cubins[index];
        const bool fits = cubin.capability / 10 == capability / 10 && cubin.capability <= capability;
        if (fits && (!best || cubin.capability > best->capability)) {
            best = &cubin;
        }
    }
    return best ? best->image : nullptr;
}

nf_status load(const CudaDriver &driver, int64_t capability, const nf_cuda_code &code, LoadedCode &loaded_code) {
    auto &[module, function] = loaded_code;
    const char *cubin = cubin_for(code, capability);
    CudaResult loaded = driver.cuModuleLoadData(&module, cubin ? cubin : code.image);
    if (loaded != kCudaSuccess && cubin) {
        // A driver may be older than the assembler was.
        loaded = driver.cuModuleLoadData(&module, code.image);
    }
    if (loaded == kNoBinaryForGpu || loaded == kUnsupportedPtx) {
        return NF_ERROR_CUDA_TOO_OLD;
    }
    if (loaded != kCudaSuccess) {
        return NF_ERROR_CUDA_LOAD;
    }
    if (driver.cuModuleGetFunction(&function, module, code.symbol) != kCudaSuccess) {
        return NF_ERROR_CUDA_LOAD;
    }
    if (code.shared_bytes > kSharedBytesOfOldest &&
        driver.cuFuncSetAttribute(function, kMaxDynamicSharedBytes, static_cast<int>(code.shared_bytes)) !=
            kCudaSuccess) {
        return NF_ERROR_CUDA_LOAD;
    }
    return NF_SUCCESS;
}

void unload(const CudaDriver &driver, const LoadedCode &code) {
    if (code.module) {
        driver.cuModuleUnload(code.module);
    }
}

nf_status load(nf_cuda &cuda, const nf_library &library) {
    int64_t capability = 0;
    if (nf_status status = check_cuda_context(cuda.driver, capability)) {
        return status;
    }
    cuda.kernels = static_cast<nf_cuda_kernel *>(
        std::calloc(static_cast<size_t>(library.cuda_count), sizeof(nf_cuda_kernel)));
    if (!cuda.kernels) {
        return NF_ERROR_CUDA_LOAD;
    }
    cuda.kernel_count = library.cuda_count;
    for (int64_t index = 0; index < cuda.kernel_count; index++) {
        nf_cuda_kernel &kernel = cuda.kernels[index];
        kernel.entry = &library.cuda_entries[index];
        kernel.driver = &cuda.driver;
        for (int64_t code = 0; code < kernel.entry->code_count; code++) {
            if (nf_status status = load(cuda.driver, capability, kernel.entry->codes[code], kernel.codes[code])) {
                return status;
            }
        }
        if (kernel.entry->sums) {
            if (nf_status status = load(cuda.driver, capability, *kernel.entry->sums, kernel.sums)) {
                return status;
            }
        }
    }
    return NF_SUCCESS;
}

}  // namespace

}  // namespace normforge

using namespace normforge;

nf_status nf_cuda_load(const nf_library *library, nf_cuda **cuda) {
    if (!cuda) {
        return NF_ERROR_NULL_ARGUMENT;
    }
    *cuda = nullptr;
    if (!library) {
        return NF_ERROR_NULL_ARGUMENT;
    }
    if (library->cuda_count == 0) {
        return NF_ERROR_NO_KERNEL;
    }
    auto *result = static_cast<nf_cuda *>(std::calloc(1, sizeof(nf_cuda)));
    if (!result) {
        return NF_ERROR_CUDA_LOAD;
    }
    nf_status status = open_cuda_driver(result->driver);
    if (status == NF_SUCCESS) {
        status = load(*result, *library);
    }
    if (status != NF_SUCCESS) {
        nf_cuda_unload(result);
        return status;
    }
    *cuda = result;
    return NF_SUCCESS;
}

void nf_cuda_unload(nf_cuda *cuda) {
    if (!cuda) {
        return;
    }
    for (int64_t index = 0; index < cuda->kernel_count; index++) {
        nf_cuda_kernel &kernel = cuda->kernels[index];
        for (const LoadedCode &code : kernel.codes) {
            unload(cuda->driver, code);
        }
        unload(cuda->driver, kernel.sums);
    }
    close_cuda_driver(cuda->driver);
    std::free(cuda->kernels);
    std::free(cuda);
}

nf_status nf_cuda_find(const nf_cuda *cuda, const nf_problem *problem, const nf_cuda_kernel **kernel) {
    if (!kernel) {
        return NF_ERROR_NULL_ARGUMENT;
    }
    *kernel = nullptr;
    if (!cuda || !problem) {
        return NF_ERROR_NULL_ARGUMENT;
    }
    if (nf_status status = check_problem(*problem)) {
        return status;
    }
    for (int64_t index = 0; index < cuda->kernel_count; index++) {
        if (same_problem(cuda->kernels[index].entry->problem, *problem)) {
            *kernel = &cuda->kernels[index];
            return NF_SUCCESS;
        }
    }
    return NF_ERROR_NO_KERNEL;
}

nf_status nf_cuda_describe(const nf_cuda_kernel *kernel, nf_description *description) {
    if (!kernel || !description) {
        return NF_ERROR_NULL_ARGUMENT;
    }
    const nf_cuda_entry &entry = *kernel->entry;
    *description = {.problem = entry.problem,
                    .symbol = entry.codes[0].symbol,
                    .target = entry.target,
                    .knobs = entry.knobs,
                    .source = entry.source};
    return NF_SUCCESS;
}

int64_t nf_cuda_kernel_count(const nf_cuda *cuda) {
    return cuda ? cuda->kernel_count : 0;
}

const nf_cuda_kernel *nf_cuda_kernel_at(const nf_cuda *cuda, int64_t index) {
    return index >= 0 && index < nf_cuda_kernel_count(cuda) ? &cuda->kernels[index] : nullptr;
}
