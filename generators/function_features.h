#pragma once

#include "llvm/IR/Function.h"

namespace normforge {

// Adds "+feature" or "-feature", in LLVM's names, to those that the function is compiled with.
void add_feature(llvm::Function &function, const char *feature);

}  // namespace normforge
