#pragma once

#include <string>
#include <vector>

#include "generators/simulated_cycles.h"
#include "llvm/IR/Module.h"

namespace normforge {

// Simulates the calls of an entry of generate_code()'s. Loops over rows within a pass, whose trips are no
// constants, take as many as each of `rows_of_pass`. Throws UserError where LLVM has no model of the CPU or of its
// instructions. For LLVM-facing files.
std::vector<KernelCycles> simulate_entry(llvm::Module &module, const std::string &symbol, const CpuPipeline &cpu,
                                         const std::vector<int64_t> &rows_of_pass);

}  // namespace normforge
