#include "autotune/library/cuda_entries.h"

#include <set>
#include <string>

#include "generators/gpu_emit.h"
#include "runtime/user_error.h"

namespace normforge {

namespace {

TableCudaCode code_of(const GpuKernelSpec &spec, int alignment) {
    GpuKernel kernel = emit_cuda(spec);
    return {std::move(kernel.ptx),
            kernel_symbol(spec),
            std::move(kernel.launch.parameters),
            alignment,
            spec.knobs.rows,
            kernel.launch.threads_x,
            kernel.launch.threads_y,
            kernel.launch.shared_bytes};
}

}  // namespace

std::vector<TableCudaEntry> cuda_entries(const std::vector<LibraryCudaKernel> &kernels) {
    std::vector<TableCudaEntry> entries;
    std::set<std::string> seen;
    for (const LibraryCudaKernel &kernel : kernels) {
        if (!seen.insert(to_text(kernel.problem)).second) {
            throw UserError("two CUDA kernels for " + to_text(kernel.problem) + "; allowed is one");
        }
        TableCudaEntry entry{kernel.problem, kCudaTarget, to_text(kernel.knobs), kernel.source, {}};
        const int vector = thread_values(kernel.problem, kernel.knobs).vector;
        if (vector > 1) {
            entry.codes.push_back(code_of({kernel.problem, kernel.knobs, GpuAlignment::vector}, vector));
        }
        entry.codes.push_back(code_of({kernel.problem, kernel.knobs, GpuAlignment::value}, 1));
        entries.push_back(std::move(entry));
    }
    return entries;
}

}  // namespace normforge
