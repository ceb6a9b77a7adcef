#include "bench/gpu/check_kernels.h"

#include <exception>
#include <string>

#include "autotune/measure/accuracy_gate.h"
#include "bench/gpu/device_call.h"
#include "bench/gpu/loaded_bundle.h"

namespace normforge {

nlohmann::json check_kernels(const CudaDevice &device, const nlohmann::json &checked) {
    nlohmann::json results = nlohmann::json::array();
    for (const nlohmann::json &kernel : checked) {
        nlohmann::json result = {{"problem", kernel.at("problem")}, {"knobs", kernel.at("knobs")}};
        try {
            const LoadedBundle loaded(kernel);
            const auto run = [&](const nf_arguments &arguments) {
                const int64_t workspace_bytes =
                    nf_cuda_workspace_bytes(loaded.kernel(), arguments.rows, arguments.groups);
                const DeviceCall call(device, loaded.problem(), arguments, workspace_bytes);
                const nf_status status = nf_cuda_run(loaded.kernel(), &call.arguments(), nullptr);
                device.wait();
                call.bring_back();
                return status;
            };
            const AccuracyGate::Result found = AccuracyGate(loaded.problem(), MergedIn::f32).check(run);
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
