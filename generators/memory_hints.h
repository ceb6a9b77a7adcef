#pragma once

#include <vector>

#include "generators/codegen.h"
#include "llvm/IR/Function.h"

namespace normforge {

// Prefetches go to the second cache, past the first, which holds the rows and the weight in use. Halide's ask for
// the first one and for nothing behind it: rows of 4096 f32 values came no faster then than without (Zen 4).
void prefetch_to_second_cache(llvm::Function &entry);

// Sets the alignment of what is read and written by the pointers at these offsets of the entry's argument to that
// of an f32. Halide takes what an output's own update reads for memory of its own making, aligned to a vector.
void align_to_values(llvm::Function &entry, const std::vector<size_t> &offsets);

// Makes the entry store whole vectors of these rows, of 16 bytes and more, past the caches, with a fence before it
// returns that orders them before all that follows, as other stores are. Such vectors must lie at multiples of
// their size: where the rows do not, the entry goes to a copy of itself as it was.
void stream_stores(llvm::Function &entry, const std::vector<StreamedRows> &rows);

// The same for NEON, whose hint goes with pairs of registers, at any address, and leaves the order of stores as it
// is: two stores side by side become one of a pair.
void hint_streamed_stores(llvm::Function &entry, const std::vector<StreamedRows> &rows);

}  // namespace normforge
