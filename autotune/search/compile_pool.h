#pragma once

#include <functional>
#include <string>
#include <vector>

#include "autotune/base/trial.h"
#include "autotune/search/any_kernel.h"
#include "autotune/search/child_pool.h"

namespace normforge {

struct CompiledKernel {
    TrialStatus status;
    std::string object;   // or PTX, where status is ok
    std::string message;  // where it is not
    double milliseconds;
};

// A kernel takes 30 to 150 ms.
inline constexpr std::chrono::seconds kCompileLimit{30};

// What a child has compiled whose first message is the object.
CompiledKernel compiled_kernel(const ChildResult &result);

// Compiles each spec in a ChildPool and calls `done` as results come, in any order. A compiler that crashes or
// takes too long costs that one kernel. Fresh processes also make the objects repeatable: Halide numbers its names
// by what the process has compiled before.
void compile_all(const std::vector<AnyKernelSpec> &specs,
                 const std::function<void(size_t index, CompiledKernel)> &done);
void compile_all(const std::vector<KernelSpec> &specs,
                 const std::function<void(size_t index, CompiledKernel)> &done);

}  // namespace normforge
