#pragma once

#include "llvm/IR/Module.h"

namespace normforge {

// Lets AVX512-BF16 round the f32 vectors whose bf16 values are stored; the bits stay those of value_types'
// formula. The instructions take subnormal numbers for zeros, so wherever a step of a loop has a code of zero, a
// branch rounds its values once more, with all numbers brought into the normal range. To be called after
// join_narrow_stores: two vectors are rounded by one instruction.
void round_by_bfloat_instructions(llvm::Module &module);

}  // namespace normforge
