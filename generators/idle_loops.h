#pragma once

#include "llvm/IR/Function.h"

namespace normforge {

// Loops that write nothing where a condition of before the loop does not hold, such as that any of a block's rows
// is a rare one, get a branch around them. Nothing behind such a loop may need a value of it.
void skip_idle_loops(llvm::Function &function);

}  // namespace normforge
