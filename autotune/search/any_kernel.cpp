#include "autotune/search/any_kernel.h"

#include <algorithm>
#include <span>

#include "autotune/base/code_hash.h"
#include "autotune/base/content_hash.h"
#include "runtime/user_error.h"
#include "schedules/gpu_space.h"
#include "schedules/row_schedules.h"
#include "schedules/space.h"
#include "schedules/target.h"

namespace normforge {

namespace {

// Without the kernel's name and comments, which have Halide's names of what it compiled before.
std::string plain_ptx(const std::string &ptx, const std::string &symbol) {
    std::string plain;
    for (size_t begin = 0; begin < ptx.size();) {
        const size_t end = std::min(ptx.find('\n', begin), ptx.size());
        const size_t comment = std::min(ptx.find("//", begin), end);
        plain.append(ptx, begin, comment - begin).append("\n");
        begin = end + 1;
    }
    for (size_t at = plain.find(symbol); at != std::string::npos; at = plain.find(symbol, at)) {
        plain.erase(at, symbol.size());
    }
    return plain;
}

GpuKernelSpec gpu_spec(const NormProblem &problem, const GpuKnobs &knobs) {
    const bool has_vectors = thread_values(problem, knobs).vector > 1;
    return {problem, knobs, has_vectors ? GpuAlignment::vector : GpuAlignment::value};
}

void require_no_reason(const std::string &reason) {
    if (!reason.empty()) {
        throw UserError(reason);
    }
}

}  // namespace

AnyKernelSpec kernel_spec(const NormProblem &problem, const std::string &knobs, const Halide::Target &target) {
    if (is_cuda(target)) {
        const GpuKnobs parsed = parse_gpu_knobs(knobs);
        require_no_reason(check(problem, parsed));
        return gpu_spec(problem, parsed);
    }
    const Knobs parsed = parse_knobs(knobs);
    require_no_reason(check(problem, parsed, target));
    return KernelSpec{problem, parsed, target};
}

const NormProblem &problem_of(const AnyKernelSpec &spec) {
    return std::visit([](const auto &each) -> const NormProblem & { return each.problem; }, spec);
}

std::string knobs_text(const AnyKernelSpec &spec) {
    return std::visit([](const auto &each) { return to_text(each.knobs); }, spec);
}

std::string target_text(const AnyKernelSpec &spec) {
    const auto *of_cpu = std::get_if<KernelSpec>(&spec);
    return of_cpu ? target_name(of_cpu->target) : kCudaTarget;
}

std::string arithmetic_text(const AnyKernelSpec &spec) {
    const auto *of_cpu = std::get_if<KernelSpec>(&spec);
    return of_cpu ? arithmetic_text(of_cpu->knobs) : knobs_text(spec);
}

std::string kernel_code(const AnyKernelSpec &spec) {
    const auto *of_cpu = std::get_if<KernelSpec>(&spec);
    return of_cpu ? emit(*of_cpu, EmitForm::object) : emit_cuda(std::get<GpuKernelSpec>(spec)).ptx;
}

std::string kernel_code_hash(const AnyKernelSpec &spec, const std::string &code) {
    if (std::holds_alternative<KernelSpec>(spec)) {
        return code_hash(code);
    }
    const std::string plain = plain_ptx(code, kernel_symbol(std::get<GpuKernelSpec>(spec)));
    return content_hash(std::as_bytes(std::span(plain)));
}

std::vector<UntunedKernel> untuned_kernels(const NormProblem &problem, const Halide::Target &target) {
    if (is_cuda(target)) {
        return {{gpu_spec(problem, gpu_heuristic(problem)), 0}};
    }
    std::vector<UntunedKernel> kernels;
    for (const RowsSchedule &schedule : heuristic_for_rows(problem, target)) {
        kernels.push_back({KernelSpec{problem, schedule.knobs, target}, schedule.min_rows});
    }
    return kernels;
}

}  // namespace normforge
