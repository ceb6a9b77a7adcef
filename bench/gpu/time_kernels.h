#pragma once

#include "autotune/measure/cuda_device.h"
#include "nlohmann/json.hpp"

namespace normforge {

// Times a problem's schedules on the device in interleaved blocks, with a copy on the device that moves as many
// bytes as rows must, but no partial sums of gradients, beside them: {"problem", "rows", "bytes", "copy_seconds",
// "schedules": [{"knobs", "source", "seconds", "copy_ratio"}]}, the fastest first. Times are medians of blocks;
// copy_ratio is the median over the blocks of the copy's time by the kernel's: 1 is the copy's bandwidth. Only
// schedules that are among the fastest of a first, short pass have it.
nlohmann::json time_kernels(const CudaDevice &device, const nlohmann::json &kernels);

}  // namespace normforge
