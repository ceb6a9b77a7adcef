#pragma once

#include "autotune/measure/cuda_device.h"
#include "nlohmann/json.hpp"

namespace normforge {

// The accuracy gate over the bundle's checked kernels, run on the device: {"problem", "failure", "error_ratio"} of
// each. A failure is empty where the kernel passed.
nlohmann::json check_kernels(const CudaDevice &device, const nlohmann::json &checked);

}  // namespace normforge
