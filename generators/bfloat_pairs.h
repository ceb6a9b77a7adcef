#pragma once

#include "llvm/IR/Module.h"

namespace normforge {

// Stores of interleaved bf16 codes, the upper halves of two vectors of 32-bit words, become stores of such words:
// the first vector shifted down, and the upper halves of the second one. To be called before join_narrow_stores,
// which would take them for vectors that must be packed.
void store_bfloat_pairs(llvm::Module &module);

}  // namespace normforge
