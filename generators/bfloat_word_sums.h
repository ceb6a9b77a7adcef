#pragma once

#include "llvm/IR/Module.h"

namespace normforge {

// Lets AVX512-VNNI round the f32 vectors whose bf16 codes are stored in pairs: what value_types' formula adds,
// 0x7fff and the lowest bit that stays, is the sum of a word's two halves, and one instruction adds both to the
// number's bits. All numbers must come from bf16 values, so that no NaN has bits in its lower half that could
// carry: as in schedules/value_pairs. On Intel AVX512-BF16 takes four operations for two vectors, and more for
// what it flushes: rms_norm of 4096 values in cache takes 0.88 of its time. To be called before
// round_by_bfloat_instructions.
void round_pairs_by_word_sums(llvm::Module &module);

}  // namespace normforge
