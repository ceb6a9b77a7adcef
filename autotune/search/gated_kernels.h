#pragma once

#include <functional>
#include <string>
#include <vector>

#include "autotune/base/trial.h"
#include "autotune/measure/accuracy_gate.h"
#include "autotune/search/any_kernel.h"
#include "autotune/search/child_pool.h"

namespace normforge {

// A schedule that was compiled and held to the accuracy gate.
struct GatedKernel {
    Trial trial;           // of no number of rows yet
    std::string object;    // or PTX; empty where it did not compile
    std::string gpu_code;  // of a GPU: bytes() of its GpuCode
};

using Emit = std::function<std::string(const KernelSpec &)>;

struct GatedKernelsObserver {
    std::function<bool()> stop;  // asked before each but the first
    MachineLock::Tell tell;
    std::function<void(const GatedKernel &)> done;
};

// Compiles each spec and runs it through the gate by `work`, in a child process of its own: it sends the object
// or PTX, the GPU's code or nothing, and then send_result().
void gate_kernels(const std::vector<AnyKernelSpec> &specs,
                  const std::function<void(size_t index, const ChildProcess::Send &)> &work,
                  ChildProcess::Memory memory, const GatedKernelsObserver &observer);
void send_result(const AccuracyGate::Result &result, const ChildProcess::Send &send);

// Compiles each spec by `emit` and runs it through the gate, both in one child process. One that crashes, hangs or
// is wrong is a trial with its reason. They are done in any order.
void gate_kernels(const std::vector<KernelSpec> &specs, const AccuracyGate &gate, const Emit &emit,
                  const GatedKernelsObserver &observer);

}  // namespace normforge
