#pragma once

#include "autotune/measure/accuracy_gate.h"
#include "autotune/measure/cuda_device.h"

namespace normforge {

// The accuracy gate for a kernel that runs on the device.
AccuracyGate::Result check_on_device(const AccuracyGate &gate, const CudaDevice &device,
                                     const NormProblem &problem, const nf_cuda_kernel &kernel);

}  // namespace normforge
