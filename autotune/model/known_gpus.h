#pragma once

#include "autotune/base/hardware.h"
#include "schedules/gpu_model.h"

namespace normforge {

// A machine's first GPU, if it is that device: as the driver would tell it.
Hardware hardware_of(const GpuDevice &device);

// The GPU that schedules are chosen for where none is named.
inline constexpr const char *kUsualGpu = "h100";

}  // namespace normforge
