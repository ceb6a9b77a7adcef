#pragma once

#include <cstdint>

#include "llvm/IR/Function.h"

namespace normforge {

// Where in the entry's argument the pointer lies that an address is made of, or -1.
int64_t offset_of_base(const llvm::Value *address, const llvm::Function &entry);

}  // namespace normforge
