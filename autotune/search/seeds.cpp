#include "autotune/search/seeds.h"

#include <algorithm>

#include "runtime/user_error.h"
#include "schedules/space.h"

namespace normforge {

namespace {

constexpr size_t kMostSeeds = 12;  // a quarter of a quick search

void append_legal(std::vector<Knobs> &seeds, const std::string &text, const NormProblem &problem,
                  const Halide::Target &target) {
    try {
        const Knobs knobs = parse_knobs(text);
        if (seeds.size() < kMostSeeds && check(problem, knobs, target).empty() &&
            std::ranges::find(seeds, knobs) == seeds.end()) {
            seeds.push_back(knobs);
        }
    } catch (const UserError &) {
        // Dead: of another set of knobs.
    }
}

}  // namespace

std::vector<Knobs> tuning_seeds(const KnownDatabases &databases, const NormProblem &problem,
                                const Halide::Target &target) {
    const Ladder ladder(databases, Machine());
    std::vector<Knobs> seeds;
    for (const NamedValue<LadderStep> &step : kLadderSteps) {
        if (seeds.size() == kMostSeeds) {
            break;
        }
        for (const LadderEntry &entry : ladder.entries(step.value, problem, target)) {
            for (const Choice &choice : entry.decision.selection.choices) {
                append_legal(seeds, choice.knobs, problem, target);
            }
        }
    }
    return seeds;
}

}  // namespace normforge
