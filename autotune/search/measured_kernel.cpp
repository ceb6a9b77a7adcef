#include "autotune/search/measured_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "autotune/base/code_hash.h"
#include "autotune/base/content_hash.h"
#include "runtime/user_error.h"
#include "schedules/space.h"
#include "schedules/target.h"

namespace normforge {

std::vector<MeasuredKernel> measured_kernels(const Decision &decision) {
    const NormProblem &problem = decision.session.problem;
    const Halide::Target target = kernel_target(decision.session.target);
    std::vector<MeasuredKernel> kernels;
    int64_t previous_rows = 0;
    for (const Choice &choice : decision.selection.choices) {
        const Knobs knobs = parse_knobs(choice.knobs);
        if (const std::string reason = check(problem, knobs, target); !reason.empty()) {
            throw UserError(reason);
        }
        if (kernels.empty() || kernels.back().spec.knobs != knobs) {
            const auto min_rows = static_cast<int64_t>(
                std::ceil(std::sqrt(static_cast<double>(previous_rows) * static_cast<double>(choice.rows))));
            const auto trial = std::ranges::find_if(
                decision.trials, [&](const Trial &t) { return t.rows == choice.rows && t.knobs == choice.knobs; });
            kernels.push_back({{problem, knobs, target}, min_rows, trial->object_hash, trial->code_hash});
        }
        previous_rows = choice.rows;
    }
    return kernels;
}

CodeState compare(const MeasuredKernel &measured, const std::string &object) {
    if (content_hash(std::as_bytes(std::span(object))) == measured.object_hash) {
        return CodeState::same_object;
    }
    return code_hash(object) == measured.code_hash ? CodeState::same_code : CodeState::other_code;
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
