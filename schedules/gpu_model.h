#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "schedules/gpu_space.h"

namespace normforge {

// A GPU by its maker's figures.
struct GpuDevice {
    const char *name;
    int processors;
    int64_t shared_bytes;  // of a processor
    int threads;           // of a processor, at most
    double bandwidth;      // of its memory, in bytes a second
    double clock;          // in cycles a second
};
std::span<const GpuDevice> gpu_devices();

// Throws UserError for a name that is none of theirs.
const GpuDevice &gpu_device(std::string_view name);

// How many blocks of a schedule a processor should hold at once, by threads, shared memory and registers.
int blocks_of_processor(const GpuDevice &device, const BlockNeeds &needs);

// The seconds that a schedule should take, where nothing was measured: either all bytes at the memory's bandwidth,
// or all blocks, as many at a time as the device holds, each as long as its reads, its reductions one after the
// other, and its writes keep it waiting. To rank schedules by, no more.
double estimated_seconds(const GpuDevice &device, const NormProblem &problem, const GpuKnobs &knobs, int64_t rows);

// All schedules of the problem, the fastest by that estimate first; of equal ones in the order of enumerate_gpu.
std::vector<GpuKnobs> ranked_schedules(const GpuDevice &device, const NormProblem &problem, int64_t rows);

}  // namespace normforge
