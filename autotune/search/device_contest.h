#pragma once

#include <vector>

#include "autotune/measure/contest.h"
#include "autotune/search/loaded_gpu_kernel.h"

namespace normforge {

// Schedules of a problem timed on a GPU beside one of them.
struct DeviceContest {
    NormProblem problem;
    int64_t rows;
    const GpuCode *reference;
    std::vector<const GpuCode *> contenders;  // of which the reference may be one as well
    int first_block;                          // samples are numbered from here
    int blocks;
    uint64_t seed;
};

// What run_contest() does, but by the device's events; where there is any contender, a copy on the device that
// moves as many bytes as a call is timed as one more, whose nanoseconds come into `copies`.
void run_device_contest(const DeviceContest &contest, const ContestObserver &observer,
                        std::vector<double> &copies);

}  // namespace normforge
