#pragma once

#include <vector>

#include "autotune/measure/contest.h"
#include "autotune/search/loaded_gpu_kernel.h"

namespace normforge {

// Schedules of a problem timed on a GPU beside the first of them.
struct DeviceContest {
    NormProblem problem;
    int64_t rows;
    std::vector<const GpuCode *> contenders;  // the reference first, which is timed beside itself too
    int first_block;                          // samples are numbered from here
    int blocks;                               // until there are so many
    uint64_t seed;
};

// Every block times each contender once, in a fresh random order and beside the reference, by the device's events,
// in a child process, while no other process of normforge computes; and once a copy on the device that moves as
// many bytes as a call, whose nanoseconds come into `copies`. A contender that brings the child down is out, and
// the others go on in a new child. Throws std::runtime_error where the reference itself fails. It does not ask to
// stop.
void run_device_contest(const DeviceContest &contest, const ContestObserver &observer,
                        std::vector<double> &copies);

}  // namespace normforge
