#include "autotune/search/compile_pool.h"

namespace normforge {

CompiledKernel compiled_kernel(const ChildResult &result) {
    if (!result.messages.empty()) {
        return {TrialStatus::ok, result.messages.front(), "", result.milliseconds};
    }
    const bool hung = result.outcome == ChildProcess::Outcome::timed_out;
    return {hung ? TrialStatus::timeout : TrialStatus::compile_error, "", result.reason, result.milliseconds};
}

void compile_all(const std::vector<AnyKernelSpec> &specs,
                 const std::function<void(size_t index, CompiledKernel)> &done) {
    run({.jobs = specs.size(),
         .work = [&](size_t job, const ChildProcess::Send &send) { send(kernel_code(specs[job])); },
         .limits = {kCompileLimit}},
        [&](size_t job, const ChildResult &result) { done(job, compiled_kernel(result)); });
}

void compile_all(const std::vector<KernelSpec> &specs,
                 const std::function<void(size_t index, CompiledKernel)> &done) {
    compile_all(std::vector<AnyKernelSpec>(specs.begin(), specs.end()), done);
}

}  // namespace normforge
