#pragma once

#include <deque>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "runtime/kernel_table.h"

namespace normforge {

// CUDA kernels in a file, for a machine where none can be generated, and as a library's table once more. A kernel
// is {"problem", "knobs", "source", "codes": [..], "sums": [..]}, by the names of runtime/cuda_table.h.
class BundledKernel {
public:
    explicit BundledKernel(const nlohmann::json &kernel);
    BundledKernel(const BundledKernel &) = delete;
    BundledKernel &operator=(const BundledKernel &) = delete;

    const nf_library &library() const { return library_; }
    const NormProblem &problem() const { return entry_.problem; }
    const std::string &knobs() const { return knobs_; }

private:
    nf_cuda_code read_code(const nlohmann::json &code);

    std::string knobs_, source_;
    std::deque<std::string> texts_;
    std::deque<std::vector<nf_cuda_parameter>> parameters_;
    std::vector<nf_cuda_code> codes_, sums_;
    nf_cuda_entry entry_{};
    nf_library library_{};
};

}  // namespace normforge
