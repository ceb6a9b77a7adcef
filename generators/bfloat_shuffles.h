#pragma once

#include "llvm/IR/Module.h"

namespace normforge {

// Packs the upper halves of two vectors of 16 lanes that are stored, which bf16 codes are, by one permutation of
// words rather than two shifts and two cuts. Also to be called after join_narrow_stores.
void pack_bfloats_by_permutation(llvm::Module &module);

// Turns loaded bf16 codes, so many to a vector, into f32 by one shuffle rather than a widening and a shift, which
// are two operations. 4 are interleaved with zeros; 8 are shuffled as bytes, which takes AVX2; 16 are permuted as
// words, which some CPUs do in one operation.
void widen_bfloats(llvm::Module &module, unsigned lanes);

}  // namespace normforge
