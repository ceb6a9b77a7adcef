#include "autotune/search/loaded_gpu_kernel.h"

#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(nf_cuda_parameter, source, operand)

namespace normforge {

// But for machine code, which libraries alone have.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TableCudaCode, image, symbol, parameters, alignment, rows_of_block, threads_x,
                                   threads_y, shared_bytes)

GpuCode::GpuCode(const NormProblem &problem, const GpuKnobs &knobs)
    : GpuCode(problem, std::pair(cuda_codes(problem, knobs), cuda_sums(problem))) {}

GpuCode::GpuCode(const NormProblem &problem, const std::string &bytes)
    : GpuCode(problem, nlohmann::json::parse(bytes).get<std::pair<Codes, Codes>>()) {}

std::string GpuCode::bytes() const {
    return nlohmann::json(std::pair(compiled_, compiled_sums_)).dump();
}

GpuCode::GpuCode(const NormProblem &problem, std::pair<Codes, Codes> compiled)
    : compiled_(std::move(compiled.first)), compiled_sums_(std::move(compiled.second)) {
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
