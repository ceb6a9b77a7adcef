#include "autotune/search/resolver.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <optional>

#include "autotune/base/enum_text.h"
#include "autotune/search/compile_cache.h"
#include "runtime/user_error.h"

namespace normforge {

namespace {

// An entry whose kernels may be taken, if its own code is still what was measured.
struct Plan {
    LadderStep step;
    bool is_shipped;
    bool is_measured;
    std::string outcome;
    std::vector<MeasuredKernel> own;          // as they were measured
    std::vector<MeasuredKernel> transferred;  // for the problem and target
};

std::string place_of(LadderStep step, const Decision &decision) {
    const StoredSession &session = decision.session;
    switch (step) {
    case LadderStep::nearest_hidden:
        return fmt::format(" of {} values", session.problem.hidden);
    case LadderStep::hardware_family:
        return fmt::format(" on {} ({})", session.hardware.model_name, session.hardware_signature);
    case LadderStep::instruction_set:
    case LadderStep::shipped_default:
        return fmt::format(" on {} ({}) for {}", session.hardware.model_name, session.hardware_signature,
                           session.target);
    default:
        return "";
    }
}

// The way of one problem and target down the ladder.
class Descent {
public:
    Descent(const Ladder &ladder, const NormProblem &problem, const Halide::Target &target, Steps steps)
        : ladder_(ladder), steps_(steps) {
        kernel_.problem = problem;
        kernel_.target = target;
    }

    // The next plan to be compiled; none when the way has ended.
    const Plan *next() {
        plan_.reset();
        while (!plan_ && (steps_ == Steps::all || !is_taken_)) {
            if (!entries_.empty()) {
                plan_entry();
            } else if (next_step_ != LadderStep::heuristic) {
                find_entries();
            } else {
                break;
            }
        }
        return plan_ ? &*plan_ : nullptr;
    }

    void judge(const CompileCache &compiled) {
        for (const MeasuredKernel &own : plan_->own) {
            const CompiledKernel &result = compiled[own.spec];
            if (result.status != TrialStatus::ok) {
                return fail(fmt::format("stale: it no longer compiles: {}", result.message));
            }
            if (compare(own, result.object) == CodeState::other_code) {
                return fail("stale: its schedule now compiles to other code; tune again");
            }
        }
        for (const MeasuredKernel &kernel : plan_->transferred) {
            if (const CompiledKernel &result = compiled[kernel.spec]; result.status != TrialStatus::ok) {
                return fail(fmt::format("it does not compile here: {}", result.message));
            }
        }
        kernel_.outcomes.push_back({plan_->step, plan_->is_shipped, true, plan_->outcome});
        if (!is_taken_) {
            kernel_.is_measured = plan_->is_measured;
            take(plan_->step, source(), plan_->transferred);
        }
    }

    // To be called when the way has ended: the heuristic's schedules, if nothing else serves.
    std::vector<AnyKernelSpec> specs() {
        if (!is_taken_) {
            std::vector<MeasuredKernel> kernels;
            for (const UntunedKernel &kernel : untuned_kernels(kernel_.problem, kernel_.target)) {
                kernels.push_back({kernel.spec, kernel.min_rows, "", "", false});
            }
            take(LadderStep::heuristic, "heuristic: " + reason_, kernels);
        }
        if (kernel_.step == LadderStep::heuristic || steps_ == Steps::all) {
            kernel_.outcomes.push_back({LadderStep::heuristic, false, true, "not measured"});
        }
        std::vector<AnyKernelSpec> specs;
        for (const ResolvedVariant &variant : kernel_.variants) {
            specs.push_back(variant.spec);
        }
        return specs;
    }

    ResolvedKernel resolved(const CompileCache &compiled) && {
        for (ResolvedVariant &variant : kernel_.variants) {
            const CompiledKernel &result = compiled[variant.spec];
            if (result.status != TrialStatus::ok) {
                throw CompileFailure(fmt::format("cannot compile {} with {}: {}", to_text(kernel_.problem),
                                                 knobs_text(variant.spec), result.message));
            }
            variant.object = result.object;
        }
        return std::move(kernel_);
    }

private:
    void find_entries() {
        step_ = next_step_;
        next_step_ = static_cast<LadderStep>(static_cast<int>(step_) + 1);
        std::vector<LadderEntry> found = ladder_.entries(step_, kernel_.problem, kernel_.target);
        entries_.assign(std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
        if (entries_.empty()) {
            add_failure(false, ladder_.reason_for_none(step_, kernel_.problem, kernel_.target));
        }
    }

    void plan_entry() {
        const LadderEntry entry = std::move(entries_.front());
        entries_.pop_front();
        try {
            plan_.emplace(Plan{step_,
                               entry.is_shipped,
                               entry.decision.session.source == TimeSource::measured,
                               gains(entry.decision) + place_of(step_, entry.decision),
                               measured_kernels(entry.decision),
                               {}});
        } catch (const UserError &error) {
            return add_failure(entry.is_shipped, std::string("stale: ") + error.what());
        }
        try {
            const bool is_as_measured = step_ == LadderStep::tuned || step_ == LadderStep::nearest_rows ||
                                        step_ == LadderStep::hardware_family;
            plan_->transferred =
                is_as_measured ? plan_->own : transferred_kernels(plan_->own, kernel_.problem, kernel_.target);
        } catch (const UserError &error) {
            fail(error.what());
            plan_.reset();
        }
    }

    void fail(const std::string &reason) { add_failure(plan_->is_shipped, reason); }

    void add_failure(bool is_shipped, const std::string &reason) {
        kernel_.outcomes.push_back({step_, is_shipped, false, reason});
        if (reason_.empty()) {
            reason_ = reason.starts_with("stale") ? "the tuned entry is " + reason : reason;
        }
    }

    std::string source() const {
        const std::string text = step_text(plan_->step, plan_->is_shipped) + ": " + plan_->outcome;
        return plan_->step == LadderStep::tuned ? text : text + "; " + reason_;
    }

    void take(LadderStep step, const std::string &text, const std::vector<MeasuredKernel> &kernels) {
        is_taken_ = true;
        kernel_.step = step;
        kernel_.source = text;
        for (const MeasuredKernel &kernel : kernels) {
            kernel_.variants.push_back({kernel.spec, kernel.min_rows, ""});
        }
    }

    const Ladder &ladder_;
    const Steps steps_;
    ResolvedKernel kernel_{};
    LadderStep step_ = LadderStep::tuned;
    LadderStep next_step_ = LadderStep::tuned;
    std::deque<LadderEntry> entries_;  // of step_, that were not tried
    std::optional<Plan> plan_;
    std::string reason_;  // why the first entry, or the first step, cannot serve
    bool is_taken_ = false;
};

}  // namespace

const ResolvedVariant &variant_for(const ResolvedKernel &kernel, int64_t rows) {
    auto next = std::ranges::find_if(kernel.variants, [&](const ResolvedVariant &v) { return v.min_rows > rows; });
    return *std::prev(next);
}

std::vector<ResolvedKernel> resolve(const std::vector<NormProblem> &problems,
                                    const std::vector<Halide::Target> &targets, const KnownDatabases &databases,
                                    Steps steps, const Machine &machine) {
    const Ladder ladder(databases, machine);
    std::vector<Descent> descents;
    for (const NormProblem &problem : problems) {
        for (const Halide::Target &target : targets) {
            descents.emplace_back(ladder, problem, target, steps);
        }
    }
    CompileCache compiled;
    while (true) {
        std::vector<Descent *> open;
        std::vector<AnyKernelSpec> specs;
        for (Descent &descent : descents) {
            if (const Plan *plan = descent.next()) {
                open.push_back(&descent);
                for (const std::vector<MeasuredKernel> *kernels : {&plan->own, &plan->transferred}) {
                    for (const MeasuredKernel &kernel : *kernels) {
                        specs.push_back(kernel.spec);
                    }
                }
            }
        }
        if (open.empty()) {
            break;
        }
        compiled.compile(specs);
        for (Descent *descent : open) {
            descent->judge(compiled);
        }
    }
    std::vector<AnyKernelSpec> specs;
    for (Descent &descent : descents) {
        std::ranges::copy(descent.specs(), std::back_inserter(specs));
    }
    compiled.compile(specs);
    std::vector<ResolvedKernel> kernels;
    for (Descent &descent : descents) {
        kernels.push_back(std::move(descent).resolved(compiled));
    }
    return kernels;
}

}  // namespace normforge
