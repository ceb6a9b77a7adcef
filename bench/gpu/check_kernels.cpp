#include "bench/gpu/check_kernels.h"

#include <stdexcept>
#include <string>

#include "autotune/measure/accuracy_gate.h"
#include "autotune/measure/single_kernel.h"
#include "bench/gpu/device_call.h"
#include "bench/gpu/kernel_bundle.h"
#include "bench/gpu/loaded_bundle.h"

namespace normforge {

namespace {

// What the gate calls has no argument of its own.
const CudaDevice *current_device = nullptr;
const LoadedBundle *current_kernel = nullptr;

void run_on_device(const nf_arguments *arguments) {
    const DeviceCall call(*current_device, current_kernel->problem(), *arguments);
    if (const nf_status status = nf_cuda_run(current_kernel->kernel(), &call.arguments(), nullptr)) {
        throw std::runtime_error(nf_status_message(status));
    }
    current_device->wait();
    call.bring_back();
}

}  // namespace

nlohmann::json check_kernels(const CudaDevice &device, const nlohmann::json &checked) {
    nlohmann::json results = nlohmann::json::array();
    for (const nlohmann::json &kernel : checked) {
        nlohmann::json result = {{"problem", kernel.at("problem")}, {"knobs", kernel.at("knobs")}};
        try {
            const LoadedBundle loaded(kernel);
            current_device = &device;
            current_kernel = &loaded;
            const SingleKernel caller(loaded.problem(), run_on_device);
            const AccuracyGate::Result found =
                AccuracyGate(loaded.problem(), MergedIn::f32).check(caller.kernel());
            result["failure"] = found.failure;
            result["error_ratio"] = found.error_ratio;
        } catch (const std::exception &error) {
            result["failure"] = error.what();
        }
        results.push_back(result);
    }
    return results;
}

}  // namespace normforge
