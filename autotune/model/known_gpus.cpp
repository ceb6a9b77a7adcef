#include "autotune/model/known_gpus.h"

namespace normforge {

Hardware hardware_of(const GpuDevice &device) {
    Hardware hardware{};
    hardware.arch = kGpuArch;
    hardware.vendor = "nvidia";
    hardware.model_name = device.model_name;
    hardware.family = device.compute_capability[0];
    hardware.model = device.compute_capability[1];
    hardware.l1d_bytes = device.shared_bytes;
    hardware.l2_bytes = device.cache_bytes;
    hardware.usable_cores = device.processors;
    return hardware;
}

}  // namespace normforge
