#pragma once

#include <optional>
#include <vector>

#include "llvm/IR/Instructions.h"

namespace normforge {

// The f32 number, or vector of them, whose bf16 codes these integers of 32 bits are by value_types' formula; else
// null.
llvm::Value *rounded_to_bfloat(llvm::Value *codes);

// A store of bf16 codes, and the one or two vectors of f32, of 8 or 16 lanes, that they are rounded from by
// value_types' formula: one after the other, or in pairs.
struct BfloatStore {
    llvm::StoreInst *store;
    std::vector<llvm::Value *> values;
    bool in_pairs;
};
std::optional<BfloatStore> bfloat_store(llvm::Instruction &instruction);

unsigned lane_count(const llvm::Value &vector);

}  // namespace normforge
