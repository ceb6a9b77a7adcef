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

}  // namespace

std::vector<Knobs> candidates(const NormProblem &problem, const Halide::Target &target, Effort effort,
                              uint64_t seed) {
    std::vector<Knobs> all = enumerate(problem, target);
    std::mt19937_64 random(seed);
    std::shuffle(all.begin(), all.end(), random);
    const Knobs first = heuristic(problem, target);
    std::stable_partition(all.begin(), all.end(), [&](const Knobs &knobs) { return knobs == first; });
    all.resize(sample_size(effort, all.size()));
    return all;
}

}  // namespace normforge
