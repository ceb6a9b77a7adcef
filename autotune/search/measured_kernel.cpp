#include "autotune/search/measured_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "autotune/base/content_hash.h"
#include "schedules/target.h"

namespace normforge {

std::vector<MeasuredKernel> measured_kernels(const Decision &decision) {
    const NormProblem &problem = decision.session.problem;
    const Halide::Target target = kernel_target(decision.session.target);
    const bool is_of_code = decision.session.source == TimeSource::measured || !is_cuda(target);
    std::vector<MeasuredKernel> kernels;
    int64_t previous_rows = 0;
    for (const Choice &choice : decision.selection.choices) {
        const AnyKernelSpec spec = kernel_spec(problem, choice.knobs, target);
        if (kernels.empty() || knobs_text(kernels.back().spec) != knobs_text(spec)) {
            const auto min_rows = static_cast<int64_t>(
                std::ceil(std::sqrt(static_cast<double>(previous_rows) * static_cast<double>(choice.rows))));
            const auto trial = std::ranges::find_if(
                decision.trials, [&](const Trial &t) { return t.rows == choice.rows && t.knobs == choice.knobs; });
            kernels.push_back({spec, min_rows, trial->object_hash, trial->code_hash, is_of_code});
        }
        previous_rows = choice.rows;
    }
    return kernels;
}

CodeState compare(const MeasuredKernel &measured, const std::string &code) {
    if (!measured.is_of_code || content_hash(std::as_bytes(std::span(code))) == measured.object_hash) {
        return CodeState::same_object;
    }
    return kernel_code_hash(measured.spec, code) == measured.code_hash ? CodeState::same_code
                                                                       : CodeState::other_code;
}

std::string gains(const Decision &decision) {
    std::vector<std::string> texts;
    for (const Choice &choice : decision.selection.choices) {
        const std::string gain = choice.knobs == decision.session.reference
                                     ? "the heuristic's own"
                                     : fmt::format("{:.2f}x the heuristic", 1 / choice.ratio);
        texts.push_back(fmt::format("{} at {} row{}", gain, choice.rows, choice.rows == 1 ? "" : "s"));
    }
    return fmt::format("{}{}", fmt::join(texts, ", "),
                       decision.session.source == TimeSource::measured ? "" : ", simulated, not measured");
}

}  // namespace normforge
