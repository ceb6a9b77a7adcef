#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "runtime/norm_problem.h"
#include "schedules/knob_table.h"

namespace normforge {

// The name of the target that GPU kernels are for: every CUDA device of compute capability 8.0 and newer.
inline constexpr const char *kCudaTarget = "cuda";

// Where a row is between the reading for its sums and the writing.
enum RowPlace : int {
    kRegisters,     // of its warp: read once
    kSharedMemory,  // of its block: read once
    kReadTwice,     // nowhere: for rows that no block can hold
};

// A GPU schedule, and the arithmetic that goes with it: the sums of a row depend on how its values are dealt out
// to threads. Values are dealt out in vectors, thread after thread, again and again over the row.
struct GpuKnobs {
    int sums;  // Sums of schedules/knobs.h; a lane is a thread
    int access;
    int warps;
    int rows;
    int place;

    bool operator==(const GpuKnobs &) const = default;
};

using GpuKnob = KnobOf<GpuKnobs>;
std::span<const GpuKnob> gpu_knob_table();
std::string to_text(const GpuKnobs &knobs);
GpuKnobs parse_gpu_knobs(std::string_view text);

constexpr int kWarpThreads = 32;

// Of the operands that h is read from, for each value.
int64_t bytes_of_h(const NormProblem &problem);

// How a row's values are dealt out.
struct ThreadValues {
    int hidden;
    int vector;        // values that a thread takes at once
    int threads;       // of a row
    int full_chunks;   // in which each thread takes a vector
    int tail_vectors;  // of the last chunk, which then is not full
    bool are_sums;     // held as h, an f32; else as the operands that h is the sum of, which take no more bytes

    int chunks() const { return full_chunks + (tail_vectors > 0 ? 1 : 0); }
};
ThreadValues thread_values(const NormProblem &problem, const GpuKnobs &knobs);

}  // namespace normforge
