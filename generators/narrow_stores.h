#pragma once

#include "llvm/IR/Module.h"

namespace normforge {

// Joins stores of narrow values, of so many bits or more, that lie side by side, such as the 16-bit results of two
// f32 vectors, into one store as wide as those vectors: two vectors are packed by one instruction, where each
// alone takes two or three.
//
// A store is moved down to the last one that it is joined with, past loads of other operands. That is right
// because the values of a row that a kernel writes share memory with no value of another place that it reads: see
// nf_arguments.
void join_narrow_stores(llvm::Module &module, unsigned least_bits);

}  // namespace normforge
