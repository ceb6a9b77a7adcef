#include "autotune/search/searcher.h"

#include <algorithm>
#include <random>

#include "schedules/row_schedules.h"
#include "schedules/space.h"

namespace normforge {

std::vector<Knobs> neighbours(const Knobs &knobs) {
    std::vector<Knobs> result;
    for (const Knob &knob : knob_table()) {
        for (const KnobValue &value : knob.values) {
            Knobs changed = knobs;
            changed.*knob.member = value.value;
            result.push_back(changed);
            if (knob.member == &Knobs::vector) {
                changed.accumulators = knobs.lanes() / changed.vector;
                changed.unroll = knobs.vector * knobs.unroll / changed.vector;
                result.push_back(changed);
            }
        }
    }
    return result;
}

std::vector<Knobs> candidates(const NormProblem &problem, const Halide::Target &target, uint64_t seed,
                              const std::vector<Knobs> &known) {
    std::vector<Knobs> all = enumerate(problem, target);
    std::mt19937_64 random(seed);
    std::shuffle(all.begin(), all.end(), random);
    std::vector<Knobs> bases, near;
    for (const RowsSchedule &schedule : heuristic_for_rows(problem, target)) {
        bases.push_back(schedule.knobs);
        for (const Knobs &knobs : neighbours(schedule.knobs)) {
            near.push_back(knobs);
        }
    }
    for (const Knobs &knobs : known) {
        if (std::ranges::find(bases, knobs) == bases.end()) {
            bases.push_back(knobs);
        }
    }
    const auto rank = [&](const Knobs &knobs) {
        const auto base = std::ranges::find(bases, knobs);
        const bool is_near = std::ranges::find(near, knobs) != near.end();
        return base != bases.end() ? base - bases.begin() : std::ssize(bases) + (is_near ? 0 : 1);
    };
    std::ranges::stable_sort(all, {}, rank);
    return all;
}

}  // namespace normforge
