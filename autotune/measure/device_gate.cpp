#include "autotune/measure/device_gate.h"

#include <stdexcept>

#include "autotune/measure/device_call.h"
#include "autotune/measure/single_kernel.h"

namespace normforge {

namespace {

// What the gate calls has no argument of its own.
struct Checked {
    const CudaDevice *device;
    const NormProblem *problem;
    const nf_cuda_kernel *kernel;
};
Checked checked;

void run_on_device(const nf_arguments *arguments) {
    const DeviceCall call(*checked.device, *checked.problem, *arguments);
    if (const nf_status status = nf_cuda_run(checked.kernel, &call.arguments(), nullptr)) {
        throw std::runtime_error(nf_status_message(status));
    }
    checked.device->wait();
    call.bring_back();
}

}  // namespace

AccuracyGate::Result check_on_device(const AccuracyGate &gate, const CudaDevice &device,
                                     const NormProblem &problem, const nf_cuda_kernel &kernel) {
    checked = {&device, &problem, &kernel};
    const SingleKernel caller(problem, run_on_device);
    return gate.check(caller.kernel());
}

}  // namespace normforge
