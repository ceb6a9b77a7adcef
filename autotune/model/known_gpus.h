#pragma once

#include "autotune/base/hardware.h"
#include "autotune/measure/cuda_device.h"
#include "schedules/gpu_model.h"

namespace normforge {

// A machine's first GPU, if it is that device: as the driver would tell it.
Hardware hardware_of(const GpuDevice &device);

// That of a device which is at hand.
Hardware hardware_of(const CudaDevice &device);

// Its figures, or the usual GPU's where the static model does not know it.
const GpuDevice &figures_of(const Hardware &hardware);

// The GPU that schedules are chosen for where none is named.
inline constexpr const char *kUsualGpu = "h100";

}  // namespace normforge
