#include "autotune/search/loaded_gpu_kernel.h"

#include <iterator>
#include <stdexcept>

namespace normforge {

GpuCode::GpuCode(const NormProblem &problem, const GpuKnobs &knobs) {
    std::vector<GpuKernelSpec> specs;
    const int vector = thread_values(problem, knobs).vector;
    if (vector > 1) {
        specs.push_back({problem, knobs, GpuAlignment::vector});
    }
    specs.push_back({problem, knobs, GpuAlignment::value});
    for (const GpuKernelSpec &spec : specs) {
        forms_.push_back({emit_cuda(spec), kernel_symbol(spec)});
    }
    for (const Form &form : forms_) {
        const GpuLaunch &launch = form.code.launch;
        const bool has_vectors = &form != &forms_.back();
        codes_.push_back({form.code.ptx.c_str(), form.symbol.c_str(), std::ssize(launch.parameters),
                          launch.parameters.data(), has_vectors ? vector : 1, knobs.rows, launch.threads_x,
                          launch.threads_y, launch.shared_bytes});
    }
    entry_ = {problem, kCudaTarget, "", "", std::ssize(codes_), codes_.data()};
    library_.cuda_count = 1;
    library_.cuda_entries = &entry_;
}

LoadedGpuKernel::LoadedGpuKernel(const GpuCode &code) {
    if (const nf_status status = nf_cuda_load(&code.library(), &cuda_)) {
        throw std::runtime_error(nf_status_message(status));
    }
}

LoadedGpuKernel::~LoadedGpuKernel() {
    nf_cuda_unload(cuda_);
}

}  // namespace normforge
