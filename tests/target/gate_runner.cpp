// Checks every kernel of the library that it is linked with, on the machine that it runs on: one line for each
// schedule of each kernel, "ok", "failed" or "skipped", its target, a digest of what it wrote, equal for equal
// bits, and the problem.

#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <memory>
#include <string>

#include "autotune/measure/accuracy_gate.h"
#include "autotune/measure/single_kernel.h"
#include "runtime/vector_length.h"

#if defined(__aarch64__)
#include <sys/prctl.h>
#endif

extern "C" const nf_library *gated_library(void);

namespace normforge {
namespace {

// Gives this thread registers of that length, where the machine has them.
void set_vector_bits([[maybe_unused]] int bits) {
#if defined(__aarch64__)
    prctl(PR_SVE_SET_VL, bits / 8);
#endif
}

// Whether nf_run refuses the kernel for its vectors, whatever the arguments.
bool is_refused(const nf_kernel &kernel) {
    const nf_arguments nothing{};
    return nf_run(&kernel, &nothing) == NF_ERROR_CPU_LACKS_FEATURES;
}

// With registers of another length, where the machine has one.
bool is_refused_elsewhere(const nf_kernel &kernel, int bits) {
    bool refused = !is_refused(kernel);
    set_vector_bits(bits == 128 ? 256 : bits / 2);
    refused = refused && (is_refused(kernel) || !(kernel.cpu_features & ~cpu_features()));
    set_vector_bits(bits);
    return refused;
}

int run(const nf_library &library) {
    std::map<std::string, AccuracyGate> gates;
    bool passed = true;
    for (int64_t index = 0; index < library.kernel_count; index++) {
        const nf_kernel &kernel = library.kernels[index];
        const std::string problem = to_text(kernel.problem);
        const int vector_bits = needed_vector_bits(kernel.cpu_features);
        if (vector_bits != 0) {
            set_vector_bits(vector_bits);
        }
        if (kernel.cpu_features & ~cpu_features()) {
            fmt::print("skipped {} - {}\n", kernel.target, problem);
            continue;
        }
        if (vector_bits != 0 && !is_refused_elsewhere(kernel, vector_bits)) {
            fmt::print("failed {} - {}: runs with registers of another length\n", kernel.target, problem);
            passed = false;
        }
        const AccuracyGate &gate = gates.try_emplace(problem, kernel.problem).first->second;
        for (int64_t variant = 0; variant < kernel.variant_count; variant++) {
            const SingleKernel single(kernel.problem, kernel.variants[variant].entry);
            const AccuracyGate::Result result = gate.check(single.kernel());
            const bool ok = result.failure.empty() && result.error_ratio <= 1;
            fmt::print("{} {} {} {} from {} rows: error {:.3f} of what is allowed; {}\n", ok ? "ok" : "failed",
                       kernel.target, result.output_digest, problem, kernel.variants[variant].min_rows,
                       result.error_ratio, result.failure);
            std::fflush(stdout);
            passed = passed && ok;
        }
    }
    return passed ? 0 : 1;
}

}  // namespace
}  // namespace normforge

int main() {
    return normforge::run(*gated_library());
}
