#include "autotune/library/cuda_entries.h"

#include <set>
#include <string>

#include "autotune/library/cubins.h"
#include "runtime/user_error.h"
#include "schedules/schedule_gpu_sums.h"

namespace normforge {

TableCudaCode cuda_code(const GpuKernelSpec &spec) {
    GpuKernel kernel = emit_cuda(spec);
    return {std::move(kernel.ptx),
            kernel_symbol(spec),
            std::move(kernel.launch.parameters),
            spec.alignment == GpuAlignment::vector ? thread_values(spec.problem, spec.knobs).vector : 1,
            spec.knobs.rows,
            kernel.launch.threads_x,
            kernel.launch.threads_y,
            kernel.launch.shared_bytes};
}

std::vector<TableCudaCode> cuda_sums(const NormProblem &problem) {
    if (!has_gpu_sums(problem)) {
        return {};
    }
    GpuKernel kernel = emit_cuda_sums(problem);
    return {{std::move(kernel.ptx), gpu_sums_symbol(problem), std::move(kernel.launch.parameters), 1, kSumValues,
             kernel.launch.threads_x, kernel.launch.threads_y, kernel.launch.shared_bytes}};
}

static void add_cubins(std::vector<TableCudaCode> &codes, const std::vector<int64_t> &capabilities) {
    for (TableCudaCode &code : codes) {
        for (const int64_t capability : capabilities) {
            code.cubins.push_back({capability, cubin(code.image, capability)});
        }
    }
}

std::vector<TableCudaEntry> cuda_entries(const std::vector<LibraryCudaKernel> &kernels,
                                         const std::vector<int64_t> &cubin_capabilities) {
    std::vector<TableCudaEntry> entries;
    std::set<std::string> seen;
    for (const LibraryCudaKernel &kernel : kernels) {
        if (!seen.insert(to_text(kernel.problem)).second) {
            throw UserError("two CUDA kernels for " + to_text(kernel.problem) + "; allowed is one");
        }
        TableCudaEntry entry{kernel.problem, kCudaTarget, to_text(kernel.knobs), kernel.source, {}};
        if (thread_values(kernel.problem, kernel.knobs).vector > 1) {
            entry.codes.push_back(cuda_code({kernel.problem, kernel.knobs, GpuAlignment::vector}));
        }
        entry.codes.push_back(cuda_code({kernel.problem, kernel.knobs, GpuAlignment::value}));
        entry.sums = cuda_sums(kernel.problem);
        add_cubins(entry.codes, cubin_capabilities);
        add_cubins(entry.sums, cubin_capabilities);
        entries.push_back(std::move(entry));
    }
    return entries;
}

}  // namespace normforge
