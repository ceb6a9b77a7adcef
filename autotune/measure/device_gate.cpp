#include "autotune/measure/device_gate.h"

#include "autotune/measure/device_call.h"

namespace normforge {

AccuracyGate::Result check_on_device(const AccuracyGate &gate, const CudaDevice &device,
                                     const NormProblem &problem, const nf_cuda_kernel &kernel) {
    return gate.check([&](const nf_arguments &arguments) {
        const DeviceCall call(device, problem, arguments,
                              nf_cuda_workspace_bytes(&kernel, arguments.rows, arguments.groups));
        const nf_status status = nf_cuda_run(&kernel, &call.arguments(), nullptr);
        device.wait();
        call.bring_back();
        return status;
    });
}

}  // namespace normforge
