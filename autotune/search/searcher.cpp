#include "autotune/search/searcher.h"

#include <algorithm>
#include <random>

#include "schedules/space.h"

namespace normforge {

namespace {

size_t sample_size(Effort effort, size_t space) {
    switch (effort) {
    case Effort::quick:
        return std::min<size_t>(space, 48);
    case Effort::normal:
        return std::min<size_t>(space, 160);
    case Effort::exhaustive:
        break;
    }
    return space;
}

// What differs from these in one knob, or in the width of a vector alone: with as many lanes, and as many values a
// step, as before.
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

}  // namespace

std::vector<Knobs> candidates(const NormProblem &problem, const Halide::Target &target, Effort effort,
                              uint64_t seed, const std::vector<Knobs> &known) {
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
    all.resize(sample_size(effort, all.size()));
    return all;
}

}  // namespace normforge
