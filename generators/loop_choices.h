#pragma once

#include "llvm/IR/Function.h"

namespace normforge {

// Innermost loops that choose vectors by a condition of before the loop, such as a factor that few rows have,
// become two loops with a branch before them. Nothing behind such a loop may need a value of it.
void separate_loop_choices(llvm::Function &function);

}  // namespace normforge
