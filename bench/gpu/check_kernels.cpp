#include "bench/gpu/check_kernels.h"

#include <exception>

#include "autotune/measure/device_gate.h"
#include "bench/gpu/kernel_bundle.h"
#include "bench/gpu/loaded_bundle.h"

namespace normforge {

nlohmann::json check_kernels(const CudaDevice &device, const nlohmann::json &checked) {
    nlohmann::json results = nlohmann::json::array();
    for (const nlohmann::json &kernel : checked) {
        nlohmann::json result = {{"problem", kernel.at("problem")}, {"knobs", kernel.at("knobs")}};
        try {
            const LoadedBundle loaded(kernel);
            const AccuracyGate gate(loaded.problem(), MergedIn::f32);
            const AccuracyGate::Result found = check_on_device(gate, device, loaded.problem(), *loaded.kernel());
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
