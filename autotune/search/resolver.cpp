#include "autotune/search/resolver.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "autotune/base/content_hash.h"
#include "autotune/base/hardware.h"
#include "autotune/search/compile_pool.h"
#include "autotune/search/decision.h"
#include "runtime/user_error.h"
#include "schedules/space.h"
#include "schedules/target.h"

namespace normforge {

namespace {

// A kernel to be compiled, and the hashes that its objects must have to count as tuned.
struct Plan {
    ResolvedKernel kernel;
    std::vector<std::string> measured_hashes;
};

Plan heuristic_plan(const NormProblem &problem, const Halide::Target &target, const std::string &reason) {
    Plan plan{{problem, target, {}, false, "heuristic: " + reason}, {}};
    for (const RowsSchedule &schedule : heuristic_for_rows(problem, target)) {
        plan.kernel.variants.push_back({{problem, schedule.knobs, target}, schedule.min_rows, ""});
    }
    return plan;
}

std::string object_hash_of(const std::vector<Trial> &trials, const Choice &choice) {
    auto trial = std::ranges::find_if(
        trials, [&](const Trial &t) { return t.rows == choice.rows && t.knobs == choice.knobs; });
    return trial->object_hash;
}

Plan tuned_plan(const NormProblem &problem, const Halide::Target &target, const std::string &reference,
                const std::vector<Trial> &trials, const Selection &selection) {
    Plan plan{{problem, target, {}, true, "tuned:"}, {}};
    int64_t previous_rows = 0;
    for (const Choice &choice : selection.choices) {
        const Knobs knobs = parse_knobs(choice.knobs);
        if (const std::string reason = check(problem, knobs, target); !reason.empty()) {
            throw UserError(reason);
        }
        const std::string gain = choice.knobs == reference
                                     ? "the heuristic's own"
                                     : fmt::format("{:.2f}x the heuristic", 1 / choice.ratio);
        plan.kernel.source += fmt::format("{} {} at {} row{}", plan.kernel.variants.empty() ? "" : ",", gain,
                                          choice.rows, choice.rows == 1 ? "" : "s");
        const bool changes = plan.kernel.variants.empty() || plan.kernel.variants.back().spec.knobs != knobs;
        if (changes) {
            // Halfway, in ratio, between the numbers of rows that were measured.
            const auto min_rows = static_cast<int64_t>(
                std::ceil(std::sqrt(static_cast<double>(previous_rows) * static_cast<double>(choice.rows))));
            plan.kernel.variants.push_back({{problem, knobs, target}, min_rows, ""});
            plan.measured_hashes.push_back(object_hash_of(trials, choice));
        }
        previous_rows = choice.rows;
    }
    return plan;
}

Plan plan_for(const NormProblem &problem, const Halide::Target &target, const Database *database) {
    if (!database) {
        return heuristic_plan(problem, target, "no database is used");
    }
    const std::string hardware = signature(detect_hardware());
    std::vector<StoredSession> sessions = database->sessions();
    std::erase_if(sessions, [&](const StoredSession &session) {
        return session.state != SessionState::done || session.hardware_signature != hardware ||
               session.target != target_name(target) || !same_problem(session.problem, problem);
    });
    if (sessions.empty()) {
        return heuristic_plan(problem, target, "not tuned for this hardware and target");
    }
    const std::vector<Decision> decisions = decide(*database, sessions);
    if (decisions.empty()) {
        return heuristic_plan(problem, target, "no schedule passed tuning");
    }
    const Decision &best = decisions.front();
    try {
        return tuned_plan(problem, target, best.session.reference, best.trials, best.selection);
    } catch (const UserError &error) {
        return heuristic_plan(problem, target, std::string("the tuned entry is stale: ") + error.what());
    }
}

void compile_plans(std::vector<Plan *> &plans) {
    std::vector<KernelSpec> specs;
    std::vector<ResolvedVariant *> variants;
    for (Plan *plan : plans) {
        for (ResolvedVariant &variant : plan->kernel.variants) {
            specs.push_back(variant.spec);
            variants.push_back(&variant);
        }
    }
    compile_all(specs, [&](size_t index, const CompiledKernel &compiled) {
        if (compiled.status != TrialStatus::ok) {
            throw CompileFailure(fmt::format("cannot compile {} with {}: {}", to_text(specs[index].problem),
                                             to_text(specs[index].knobs), compiled.message));
        }
        variants[index]->object = compiled.object;
    });
}

bool as_measured(const Plan &plan) {
    for (size_t index = 0; index < plan.measured_hashes.size(); index++) {
        const std::string &object = plan.kernel.variants[index].object;
        if (content_hash(std::as_bytes(std::span(object))) != plan.measured_hashes[index]) {
            return false;
        }
    }
    return true;
}

}  // namespace

const ResolvedVariant &variant_for(const ResolvedKernel &kernel, int64_t rows) {
    auto next = std::ranges::find_if(kernel.variants, [&](const ResolvedVariant &v) { return v.min_rows > rows; });
    return *std::prev(next);
}

std::vector<ResolvedKernel> resolve(const std::vector<NormProblem> &problems,
                                    const std::vector<Halide::Target> &targets, const Database *database) {
    std::vector<Plan> plans;
    for (const NormProblem &problem : problems) {
        for (const Halide::Target &target : targets) {
            plans.push_back(plan_for(problem, target, database));
        }
    }
    std::vector<Plan *> to_compile;
    for (Plan &plan : plans) {
        to_compile.push_back(&plan);
    }
    compile_plans(to_compile);
    to_compile.clear();
    for (Plan &plan : plans) {
        if (!as_measured(plan)) {
            plan = heuristic_plan(plan.kernel.problem, plan.kernel.target,
                                  "the tuned entry is stale: its schedule now compiles to other code; tune again");
            to_compile.push_back(&plan);
        }
    }
    compile_plans(to_compile);
    std::vector<ResolvedKernel> kernels;
    for (Plan &plan : plans) {
        kernels.push_back(std::move(plan.kernel));
    }
    return kernels;
}

}  // namespace normforge
