#pragma once

#include <functional>
#include <string>
#include <vector>

#include "autotune/model/known_cpus.h"
#include "generators/emit.h"

namespace normforge {

// A call's cycles by the static model, for each number of rows.
struct SimulatedKernel {
    std::vector<double> cycles;
    std::string failure;  // why there are none
};

// Simulates each spec in child processes, as many at once as there are usable cores, and calls `done` in the order
// of the specs. One that brings a child down is that one's failure.
void simulate_all(const std::vector<KernelSpec> &specs, const KnownCpu &cpu, const std::vector<int64_t> &rows,
                  const std::function<void(size_t index, SimulatedKernel)> &done);

}  // namespace normforge
