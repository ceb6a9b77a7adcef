#pragma once

#include "llvm/IR/Module.h"

namespace normforge {

// Turns every product that is added to something, or from which something is subtracted or the other way round,
// into a fused multiply-add, which rounds once. Of two products that are added, the second one is fused: LLVM's
// own contraction chooses by how it unrolled the code around, so that schedules of equal arithmetic would differ
// in bits. For targets that have the instruction.
void contract_products(llvm::Module &module);

}  // namespace normforge
