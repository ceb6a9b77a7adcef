#pragma once

#include "autotune/model/known_cpus.h"
#include "generators/emit.h"

namespace normforge {

// What a call takes by the static model, in cycles of the CPU.
struct StaticTime {
    double compute;  // with all operands in the first cache
    double traffic;  // to move them there, and results away
    double total() const;
};

// Of a call with so many rows, whose kernel was simulated for as many.
StaticTime static_time(const KernelSpec &spec, const KernelCycles &cycles, const KnownCpu &cpu, int64_t rows);

}  // namespace normforge
