#include "autotune/model/known_gpus.h"

#include <algorithm>

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

Hardware hardware_of(const CudaDevice &device) {
    // CU_DEVICE_ATTRIBUTE_ of these names.
    constexpr int kMultiprocessorCount = 16;
    constexpr int kL2CacheSize = 38;
    constexpr int kComputeCapabilityMajor = 75;
    constexpr int kComputeCapabilityMinor = 76;
    constexpr int kMaxSharedMemoryPerMultiprocessor = 81;
    Hardware hardware{};
    hardware.arch = kGpuArch;
    hardware.vendor = "nvidia";
    hardware.model_name = device.name();
    hardware.family = device.attribute(kComputeCapabilityMajor);
    hardware.model = device.attribute(kComputeCapabilityMinor);
    hardware.l1d_bytes = device.attribute(kMaxSharedMemoryPerMultiprocessor);
    hardware.l2_bytes = device.attribute(kL2CacheSize);
    hardware.usable_cores = device.attribute(kMultiprocessorCount);
    return hardware;
}

const GpuDevice &figures_of(const Hardware &hardware) {
    const auto known = std::ranges::find(gpu_devices(), hardware.model_name, &GpuDevice::model_name);
    return known == gpu_devices().end() ? gpu_device(kUsualGpu) : *known;
}

}  // namespace normforge
