#include "generators/cuda_codes.h"

#include <iterator>

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

std::vector<TableCudaCode> cuda_codes(const NormProblem &problem, const GpuKnobs &knobs) {
    std::vector<TableCudaCode> codes;
    if (thread_values(problem, knobs).vector > 1) {
        codes.push_back(cuda_code({problem, knobs, GpuAlignment::vector}));
    }
    codes.push_back(cuda_code({problem, knobs, GpuAlignment::value}));
    return codes;
}

nf_cuda_code runtime_form(const TableCudaCode &code) {
    return {code.image.c_str(),
            code.symbol.c_str(),
            std::ssize(code.parameters),
            code.parameters.data(),
            code.alignment,
            code.rows_of_block,
            code.threads_x,
            code.threads_y,
            code.shared_bytes,
            0,
            nullptr};
}

}  // namespace normforge
