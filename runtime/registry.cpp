#include "runtime/cpu_features.h"
#include "runtime/kernel_table.h"
#include "runtime/norm_problem.h"

namespace normforge {

const nf_variant &variant_for(const nf_kernel &kernel, int64_t rows) {
    int64_t index = kernel.variant_count - 1;
    while (index > 0 && kernel.variants[index].min_rows > rows) {
        index--;
    }
    return kernel.variants[index];
}

}  // namespace normforge

using namespace normforge;

nf_status nf_find(const nf_library *library, const nf_problem *problem, const nf_kernel **kernel) {
    if (!kernel) {
        return NF_ERROR_NULL_ARGUMENT;
    }
    *kernel = nullptr;
    if (!library || !problem) {
        return NF_ERROR_NULL_ARGUMENT;
    }
    if (nf_status status = check_problem(*problem)) {
        return status;
    }
    nf_status status = NF_ERROR_NO_KERNEL;
    const uint64_t usable = cpu_features();
    for (int64_t index = 0; index < library->kernel_count; index++) {
        const nf_kernel &candidate = library->kernels[index];
        if (!same_problem(candidate.problem, *problem)) {
            continue;
        }
        if ((candidate.cpu_features & ~usable) == 0) {
            *kernel = &candidate;
            return NF_SUCCESS;
        }
        status = NF_ERROR_CPU_LACKS_FEATURES;
    }
    return status;
}

nf_status nf_describe(const nf_kernel *kernel, int64_t rows, nf_description *description) {
    if (!kernel || !description) {
        return NF_ERROR_NULL_ARGUMENT;
    }
    if (rows < 0) {
        return NF_ERROR_NEGATIVE_ROWS;
    }
    const nf_variant &variant = variant_for(*kernel, rows);
    *description = {.problem = kernel->problem,
                    .symbol = variant.symbol,
                    .target = kernel->target,
                    .knobs = variant.knobs,
                    .source = variant.source};
    return NF_SUCCESS;
}

int64_t nf_kernel_count(const nf_library *library) {
    return library ? library->kernel_count : 0;
}

const nf_kernel *nf_kernel_at(const nf_library *library, int64_t index) {
    return index >= 0 && index < nf_kernel_count(library) ? &library->kernels[index] : nullptr;
}
