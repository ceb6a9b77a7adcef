#pragma once

#include <stdexcept>

#include "bench/gpu/kernel_bundle.h"

namespace normforge {

// A kernel of a bundle, loaded into the current context. Throws std::runtime_error where the driver refuses it.
class LoadedBundle {
public:
    explicit LoadedBundle(const nlohmann::json &kernel) : bundled_(kernel) {
        if (const nf_status status = nf_cuda_load(&bundled_.library(), &cuda_)) {
            throw std::runtime_error(nf_status_message(status));
        }
    }
    ~LoadedBundle() { nf_cuda_unload(cuda_); }
    LoadedBundle(const LoadedBundle &) = delete;
    LoadedBundle &operator=(const LoadedBundle &) = delete;

    const NormProblem &problem() const { return bundled_.problem(); }
    const std::string &knobs() const { return bundled_.knobs(); }
    const nf_cuda_kernel *kernel() const { return nf_cuda_kernel_at(cuda_, 0); }

private:
    BundledKernel bundled_;
    nf_cuda *cuda_ = nullptr;
};

}  // namespace normforge
