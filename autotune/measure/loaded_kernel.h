#pragma once

#include <memory>
#include <string>

#include "autotune/measure/single_kernel.h"

namespace normforge {

// An object file of emit(), loaded into this process. Whoever does not trust the kernel does so in a ChildProcess.
class LoadedKernel {
public:
    // Throws std::runtime_error where the object cannot be loaded or lacks the symbol.
    LoadedKernel(const NormProblem &problem, const std::string &object, const std::string &symbol);
    ~LoadedKernel();
    LoadedKernel(LoadedKernel &&) noexcept;

    // Lives as long as this does, and stays where it is when this is moved.
    const nf_kernel &kernel() const { return kernel_->kernel(); }

private:
    struct Loader;
    std::unique_ptr<Loader> loader_;
    std::unique_ptr<const SingleKernel> kernel_;
};

}  // namespace normforge
