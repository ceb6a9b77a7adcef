#pragma once

#include "llvm/IR/Module.h"

namespace normforge {

// Lets AVX512-BF16 round the f32 vectors whose bf16 values are stored; the bits stay those of value_types'
// formula. The instructions take subnormal numbers for zeros, so wherever a step of a loop has a code of zero, a
// branch rounds its values once more, with all numbers brought into the normal range. To be called after
// join_narrow_stores: two vectors are rounded by one instruction.
void round_by_bfloat_instructions(llvm::Module &module);

// Packs the upper halves of two vectors of 16 lanes that are stored, which bf16 codes are, by one permutation of
// words rather than two shifts and two cuts. Also to be called after join_narrow_stores.
void pack_bfloats_by_permutation(llvm::Module &module);

// Turns bf16 codes into f32 by one permutation of words rather than a widening and a shift, which are two. For
// CPUs where that permutation is one operation.
void widen_bfloats_by_permutation(llvm::Module &module);

}  // namespace normforge
