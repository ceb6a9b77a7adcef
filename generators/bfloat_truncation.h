#pragma once

#include "llvm/IR/Module.h"

namespace normforge {

// Lets ARM's bf16 instructions round f32, one value or many: under the floating-point control that programs start
// with, they give the bits of value_types' formula, subnormals too. To be called after join_narrow_stores: two
// vectors are rounded into one.
void truncate_to_bfloats(llvm::Module &module);

// The same by SVE's instructions, of vectors that a register of that length holds.
void round_in_scalable_vectors(llvm::Module &module, int register_bits);

}  // namespace normforge
