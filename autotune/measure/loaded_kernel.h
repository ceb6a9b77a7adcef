#pragma once

#include <memory>
#include <string>

#include "runtime/normforge.h"

namespace normforge {

// An object file of emit(), loaded into this process. Whoever does not trust the kernel does so in a ChildProcess.
class LoadedKernel {
public:
    using Entry = void (*)(const nf_arguments *);

    // Throws std::runtime_error where the object cannot be loaded or lacks the symbol.
    LoadedKernel(const std::string &object, const std::string &symbol);
    ~LoadedKernel();
    LoadedKernel(LoadedKernel &&) noexcept;

    Entry entry() const { return entry_; }

private:
    struct Loader;
    std::unique_ptr<Loader> loader_;
    Entry entry_ = nullptr;
};

}  // namespace normforge
