#pragma once

#include <functional>
#include <string>
#include <vector>

#include "autotune/model/known_cpus.h"
#include "autotune/search/compile_pool.h"

namespace normforge {

// A kernel, and a call's cycles by the static model, for each number of rows.
struct SimulatedKernel {
    CompiledKernel compiled;
    std::vector<double> cycles;
    std::string failure;  // why there are none
};

// Compiles and simulates each spec in a ChildPool and calls `done` as results come, in any order. One that brings
// its child down is that one's failure.
void simulate_all(const std::vector<KernelSpec> &specs, const KnownCpu &cpu, const std::vector<int64_t> &rows,
                  const MachineLock::Tell &tell, const std::function<void(size_t index, SimulatedKernel)> &done);

}  // namespace normforge
