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

    // The same one at another address.
    std::unique_ptr<LoadedKernel> loaded_again() const;

    // Lives as long as this does, and stays where it is when this is moved.
    const nf_kernel &kernel() const { return kernel_->kernel(); }

private:
    struct Loader;
    std::string object_;
    std::string symbol_;
    std::unique_ptr<Loader> loader_;
    std::unique_ptr<const SingleKernel> kernel_;
};

}  // namespace normforge
