#include "autotune/search/survivors.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace normforge {

namespace {

// Places in `trials`, the fastest first, for each number of rows.
using ByRows = std::map<int64_t, std::vector<size_t>>;

}  // namespace

std::vector<size_t> survivors(const std::vector<Trial> &trials, size_t digests, size_t per_digest,
                              const std::string &reference_knobs) {
    std::map<int64_t, size_t> last_round;  // samples of who was in it, by rows
    std::map<std::string, ByRows> by_digest;
    for (size_t index = 0; index < trials.size(); index++) {
        const Trial &trial = trials[index];
        if (!last_round.contains(trial.rows)) {
            last_round[trial.rows] = most_samples(trials, trial.rows);
        }
        if (trial.status == TrialStatus::ok && trial.samples.size() == last_round[trial.rows]) {
            by_digest[trial.output_digest][trial.rows].push_back(index);
        }
    }
    std::vector<std::pair<double, std::string>> ranking;
    for (auto &[digest, by_rows] : by_digest) {
        double score = 0;
        for (auto &[rows, places] : by_rows) {
            std::ranges::stable_sort(places, {}, [&](size_t place) { return median_ratio(trials[place]); });
            score += std::log(median_ratio(trials[places.front()]));
        }
        if (by_rows.size() == last_round.size()) {
            ranking.emplace_back(score, digest);
        }
    }
    std::ranges::sort(ranking);
    ranking.resize(std::min(digests, ranking.size()));

    std::set<size_t> kept;
    for (const auto &[score, digest] : ranking) {
        for (const auto &[rows, places] : by_digest[digest]) {
            kept.insert(places.begin(), places.begin() + std::min(per_digest, places.size()));
        }
    }
    for (size_t index = 0; index < trials.size(); index++) {
        if (trials[index].status == TrialStatus::ok && trials[index].knobs == reference_knobs) {
            kept.insert(index);
        }
    }
    return {kept.begin(), kept.end()};
}

}  // namespace normforge
