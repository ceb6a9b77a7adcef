#pragma once

#include "llvm/Analysis/LoopInfo.h"

namespace normforge {

// Whether a branch before the loop may lead around it, or to a copy of it: it is entered and left at one place
// each, and nothing behind it needs a value of it.
bool can_be_bypassed(const llvm::Loop &loop);

}  // namespace normforge
