#pragma once

#include <memory>
#include <vector>

#include "generators/simulated_cycles.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCInst.h"

namespace normforge {

// LLVM MCA for one CPU: dispatch, issue and retirement of a sequence of instructions by the scheduling model. It
// counts simulated cycles, which see a chain of additions, and not the throughput of ports alone. For LLVM-facing
// files.
class PipelineSimulator {
public:
    // Throws UserError where LLVM has no model of the CPU.
    PipelineSimulator(const llvm::Triple &triple, const CpuPipeline &cpu);
    ~PipelineSimulator();

    // Throws UserError where the CPU's model lacks an instruction.
    double cycles(const std::vector<const llvm::MCInst *> &sequence) const;

private:
    struct Machine;
    std::unique_ptr<Machine> machine_;
};

}  // namespace normforge
