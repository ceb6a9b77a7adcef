#include "autotune/search/loaded_gpu_kernel.h"

#include <iterator>
#include <stdexcept>

namespace normforge {

GpuCode::GpuCode(const NormProblem &problem, const GpuKnobs &knobs)
    : compiled_(cuda_codes(problem, knobs)), compiled_sums_(cuda_sums(problem)) {
    for (const TableCudaCode &code : compiled_) {
        codes_.push_back(runtime_form(code));
    }
    for (const TableCudaCode &code : compiled_sums_) {
        sums_.push_back(runtime_form(code));
    }
    entry_ = {
        problem, kCudaTarget, "", "", std::ssize(codes_), codes_.data(), sums_.empty() ? nullptr : sums_.data()};
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
