#include "autotune/search/detect_gpu.h"

#include "autotune/measure/child_process.h"
#include "autotune/measure/machine_report.h"
#include "autotune/model/known_gpus.h"
#include "runtime/cuda_driver.h"
#include "runtime/user_error.h"

namespace normforge {

namespace {

// How the child of detect_gpu() begins what it says where there is none.
constexpr char kRefusal = '!';

}  // namespace

Hardware detect_gpu() {
    constexpr std::chrono::seconds kLimit{60};  // machines with many GPUs take seconds to open the driver
    ChildProcess child(
        [](const ChildProcess::Send &send) {
            CudaDriver driver{};
            nf_status status = open_cuda_driver(driver);
            if (status == NF_SUCCESS) {
                const CudaDevice device;
                int64_t capability = 0;
                status = check_cuda_context(driver, capability);
                if (status == NF_SUCCESS) {
                    return send(hardware_line(hardware_of(device)) + emulation_line("") + end_line());
                }
            }
            send(kRefusal + std::string(nf_status_message(status)));
        },
        ChildProcess::Memory::unlimited);
    const std::optional<std::string> said = child.read(kLimit);
    if (!said) {
        throw UserError("the CUDA driver failed: " + child.reason());
    }
    if (said->starts_with(kRefusal)) {
        throw UserError("kernels for GPUs cannot be measured here: " + said->substr(1));
    }
    return parse_report(*said, 0).hardware;
}

Machine this_machine() {
    try {
        return {.gpu = detect_gpu()};
    } catch (const UserError &) {
        return {};
    }
}

}  // namespace normforge
