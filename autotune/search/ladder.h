#pragma once

#include <string>
#include <vector>

#include "autotune/database/database.h"
#include "autotune/model/known_gpus.h"
#include "autotune/search/measured_kernel.h"

namespace normforge {

// Where a kernel's schedules come from, the best source first.
enum class LadderStep {
    tuned,           // for this problem, hardware and target
    nearest_rows,    // so, but not for all numbers of rows: these take the nearest one's
    nearest_hidden,  // for a hidden size at most twice or half as long, divisible by the same powers of 2 up to 64
    hardware_family,  // for the same target, on hardware of the same vendor and family with equal first two caches
    instruction_set,  // on any hardware, for a target of the same instruction sets
    shipped_default,  // for any target of the architecture, in the database that normforge comes with
    heuristic,        // not measured
};

inline constexpr NamedValue<LadderStep> kLadderSteps[] = {
    {"tuned", LadderStep::tuned},
    {"nearest rows", LadderStep::nearest_rows},
    {"nearest hidden size", LadderStep::nearest_hidden},
    {"hardware family", LadderStep::hardware_family},
    {"instruction set", LadderStep::instruction_set},
    {"shipped default", LadderStep::shipped_default},
    {"heuristic", LadderStep::heuristic},
};

// A step in words, and whether its entry is of the shipped database.
std::string step_text(LadderStep step, bool is_shipped);

// The databases that are looked into at each step, in this order. Either may be missing.
struct KnownDatabases {
    const Database *own = nullptr;
    const Database *shipped = nullptr;
};

// A decision that may serve a problem, and its database.
struct LadderEntry {
    Decision decision;
    bool is_shipped;
};

// What kernels are chosen for: those of CPUs for the one, those of GPUs for the other.
struct Machine {
    Hardware cpu = detect_hardware();
    Hardware gpu = hardware_of(gpu_device(kUsualGpu));

    const Hardware &of(const Halide::Target &target) const;
};

// What the databases have for a problem and target at each step but the heuristic.
class Ladder {
public:
    Ladder(const KnownDatabases &databases, const Machine &machine);

    // The most suitable first; what was only simulated after all that was measured.
    std::vector<LadderEntry> entries(LadderStep step, const NormProblem &problem,
                                     const Halide::Target &target) const;

    // Why there are none.
    std::string reason_for_none(LadderStep step, const NormProblem &problem, const Halide::Target &target) const;

private:
    bool is_of_step(const StoredSession &session, LadderStep step, const NormProblem &problem,
                    const Halide::Target &target) const;

    struct Source {
        const Database *database;
        bool is_shipped;
        std::vector<StoredSession> sessions;  // that are done
    };

    std::vector<Source> sources_;
    const Machine machine_;
};

// An entry's kernels for the problem and target, which may be others than its own but of the same kind of machine.
// There is at least one. Throws UserError where they cannot serve: knobs that do not fit, or that would give other
// bits for some numbers of rows than for others.
std::vector<MeasuredKernel> transferred_kernels(const std::vector<MeasuredKernel> &own, const NormProblem &problem,
                                                const Halide::Target &target);

}  // namespace normforge
