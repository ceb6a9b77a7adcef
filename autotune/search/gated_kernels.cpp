#include "autotune/search/gated_kernels.h"

#include <fmt/format.h>

#include <utility>

#include "autotune/measure/loaded_kernel.h"
#include "autotune/search/compiled_trial.h"

namespace normforge {

namespace {

constexpr std::chrono::seconds kGateLimit{10};

// The object and the GPU's code, then the gate's error ratio, digest and failure.
enum Message : size_t { kObject, kGpuCode, kErrorRatio, kDigest, kFailure, kMessages };

void compile_and_check(const KernelSpec &spec, const AccuracyGate &gate, const Emit &emit,
                       const ChildProcess::Send &send) {
    const std::string object = emit(spec);
    send(object);
    send("");
    const LoadedKernel kernel(spec.problem, object, kernel_symbol(spec));
    const AccuracyGate::Result result = gate.check(kernel.kernel());
    send_result(result, send);
}

GatedKernel gated_kernel(const AnyKernelSpec &spec, const ChildResult &result) {
    const CompiledKernel compiled = compiled_kernel(result);
    GatedKernel kernel{compiled_trial(spec, compiled), compiled.object, ""};
    Trial &trial = kernel.trial;
    if (compiled.status != TrialStatus::ok) {
        return kernel;
    }
    if (result.messages.size() == kMessages) {
        kernel.gpu_code = result.messages[kGpuCode];
        trial.error_ratio = std::stod(result.messages[kErrorRatio]);
        trial.output_digest = output_digest(result.messages[kDigest], spec);
        trial.message = result.messages[kFailure];
        trial.status = trial.message.empty() ? TrialStatus::ok : TrialStatus::wrong;
    } else {
        trial.status = ChildProcess::failure(result.outcome);
        trial.message = "in the accuracy gate: " + result.reason;
    }
    return kernel;
}

}  // namespace

void send_result(const AccuracyGate::Result &result, const ChildProcess::Send &send) {
    send(fmt::format("{}", result.error_ratio));
    send(result.output_digest);
    send(result.failure);
}

void gate_kernels(const std::vector<KernelSpec> &specs, const AccuracyGate &gate, const Emit &emit,
                  const GatedKernelsObserver &observer) {
    gate_kernels(
        {specs.begin(), specs.end()},
        [&](size_t index, const ChildProcess::Send &send) { compile_and_check(specs[index], gate, emit, send); },
        ChildProcess::Memory::limited, observer);
}

void gate_kernels(const std::vector<AnyKernelSpec> &specs,
                  const std::function<void(size_t index, const ChildProcess::Send &)> &work,
                  ChildProcess::Memory memory, const GatedKernelsObserver &observer) {
    bool begun = false;
    run({.jobs = specs.size(),
         .work = work,
         .limits = {kCompileLimit, kGateLimit, kGateLimit, kGateLimit, kGateLimit},
         .stop = [&] { return std::exchange(begun, true) && observer.stop(); },
         .tell = observer.tell,
         .memory = memory},
        [&](size_t job, const ChildResult &result) { observer.done(gated_kernel(specs[job], result)); });
}

}  // namespace normforge
