#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace normforge {

// A CPU as LLVM's scheduling models know it.
struct CpuPipeline {
    std::string name;    // LLVM's
    int dispatch_width;  // micro-operations a cycle; 0 for LLVM's own
};

// An innermost loop over the values of rows.
struct LoopCycles {
    int64_t trips;  // in one pass of the loop over rows
    int64_t instructions;
    double cycles;  // of one trip, when many have gone before
};

// What a kernel takes with all its operands in the first cache and every branch foreseen.
struct KernelCycles {
    double first_pass;              // of the loop over rows, with all that is before and after it, by itself
    double next_pass;               // each further one
    std::vector<LoopCycles> loops;  // of one pass, in the order in which they run
};

}  // namespace normforge
