#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/norm_problem.h"
#include "schedules/gpu_knobs.h"

namespace normforge {

// What a block of a schedule takes.
struct BlockNeeds {
    int threads;
    int64_t shared_bytes;
    int held_values;       // of the row, that each thread holds in registers
    int registers;         // of a thread, as reckoned with; the assembler may take others
    int likely_registers;  // about what it takes: the table in docs/cuda.md
    int64_t row_bytes;  // moved for each row: read, as often as it is read, and written; without gradients' sums
};
BlockNeeds block_needs(const NormProblem &problem, const GpuKnobs &knobs);

// Why these knobs cannot serve the problem, or an empty text if they can, on every GPU of compute capability 8.0
// and newer.
std::string check(const NormProblem &problem, const GpuKnobs &knobs);

// Every combination of legal values that check() accepts, in a fixed order.
std::vector<GpuKnobs> enumerate_gpu(const NormProblem &problem);

// A good schedule without measuring. Throws UserError for a problem that no schedule serves.
GpuKnobs gpu_heuristic(const NormProblem &problem);

}  // namespace normforge
