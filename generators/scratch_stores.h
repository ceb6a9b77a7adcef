#pragma once

#include "llvm/IR/Module.h"

namespace normforge {

// Stores of parts of vectors into a function's own memory become stores of whole ones, of which the other lanes
// are what is there. Such memory can then be registers: the sums of a row's last values are, where loads of the
// whole vector would have to wait for the store of a part. To be called before memory is promoted.
void store_whole_scratch_vectors(llvm::Module &module);

}  // namespace normforge
