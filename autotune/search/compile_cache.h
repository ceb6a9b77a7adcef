#pragma once

#include <map>
#include <string>
#include <vector>

#include "autotune/search/compile_pool.h"

namespace normforge {

// Kernels that were compiled before, so that each is compiled once.
class CompileCache {
public:
    // Compiles those that are new, in parallel.
    void compile(const std::vector<AnyKernelSpec> &specs);

    // Of a spec that compile was given.
    const CompiledKernel &operator[](const AnyKernelSpec &spec) const;

private:
    std::map<std::string, CompiledKernel> kernels_;
};

}  // namespace normforge
