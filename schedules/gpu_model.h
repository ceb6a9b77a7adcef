#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schedules/gpu_space.h"

namespace normforge {

// A GPU by its maker's figures.
struct GpuDevice {
    const char *name;
    const char *model_name;     // as the driver calls it
    int compute_capability[2];  // major, minor
    int processors;
    int64_t shared_bytes;  // of a processor
    int64_t cache_bytes;   // of the cache that all processors share
    int threads;           // of a processor, at most
    double bandwidth;      // of its memory, in bytes a second
    double clock;          // in cycles a second
};
std::span<const GpuDevice> gpu_devices();

// "a100, h100, ..."
std::string gpu_names();

// Throws UserError for a name that is none of theirs.
const GpuDevice &gpu_device(std::string_view name);

// How many blocks of a schedule a processor should hold at once, by threads, shared memory and registers.
int blocks_of_processor(const GpuDevice &device, const BlockNeeds &needs);

// What a schedule should take, where nothing was measured: either all bytes at the memory's bandwidth, or all
// blocks, as many at a time as the device holds, each as long as its reads, its reductions one after the other,
// and its writes keep it waiting. To rank schedules by, no more.
//
// Of backward the same of each of its launches: blocks of the first one take the rows of their slices one after
// the other. Its partial sums are written to memory once, and until then are in caches; the second launch, which
// is the same for all schedules, reads them once.
struct GpuEstimate {
    int blocks_of_processor;
    double occupancy;  // the part of a processor's threads that these blocks are
    double waves;      // of such blocks, one after the other
    int64_t bytes;     // moved by all launches
    double moving;     // seconds, of the bytes of the launch for the rows
    double waiting;    // seconds, of all its waves
    double adding;     // seconds, of the launch that adds up the partial sums; 0 where there is none

    double seconds() const { return std::max(moving, waiting) + adding; }
};
GpuEstimate estimate(const GpuDevice &device, const NormProblem &problem, const GpuKnobs &knobs, int64_t rows);

// All schedules of the problem, the fastest by that estimate first; of equal ones in the order of enumerate_gpu.
std::vector<GpuKnobs> ranked_schedules(const GpuDevice &device, const NormProblem &problem, int64_t rows);

}  // namespace normforge
