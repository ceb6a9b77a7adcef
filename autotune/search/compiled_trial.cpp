#include "autotune/search/compiled_trial.h"

#include <span>

#include "autotune/base/content_hash.h"

namespace normforge {

Trial compiled_trial(const AnyKernelSpec &spec, const CompiledKernel &compiled) {
    Trial trial{};
    trial.knobs = knobs_text(spec);
    trial.status = compiled.status;
    trial.message = compiled.message;
    trial.compile_ms = compiled.milliseconds;
    trial.code_bytes = static_cast<int64_t>(compiled.object.size());
    trial.object_hash = content_hash(std::as_bytes(std::span(compiled.object)));
    if (compiled.status == TrialStatus::ok) {
        trial.code_hash = kernel_code_hash(spec, compiled.object);
    }
    return trial;
}

std::string output_digest(const std::string &of_gate, const AnyKernelSpec &spec) {
    return of_gate + " by " + arithmetic_text(spec);
}

}  // namespace normforge
