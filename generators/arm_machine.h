#pragma once

#include "generators/codegen.h"
#include "llvm/IR/Module.h"

namespace normforge {

// Makes plain vector code, of whatever target, code for the machine. Of SVE the length of a register is then
// known: a register holds a vector of that length, and no masks but those of the code itself are needed.
void compile_for(llvm::Module &module, const ArmMachine &machine);

// Narrow values are widened by ARM's instructions out of the plain code already; this is how they are made.
void convert_by_arm(llvm::Module &module, const ArmMachine &machine);

}  // namespace normforge
