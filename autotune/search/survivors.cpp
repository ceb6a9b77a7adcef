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
    std::set<int64_t> all_rows;
    std::map<std::string, ByRows> by_digest;
    for (size_t index = 0; index < trials.size(); index++) {
        all_rows.insert(trials[index].rows);
        if (trials[index].status == TrialStatus::ok) {
            by_digest[trials[index].output_digest][trials[index].rows].push_back(index);
        }
    }
    std::vector<std::pair<double, std::string>> ranking;
    for (auto &[digest, by_rows] : by_digest) {
        double score = 0;
        for (auto &[rows, places] : by_rows) {
            std::ranges::stable_sort(places, {}, [&](size_t place) { return median_ratio(trials[place]); });
            score += std::log(median_ratio(trials[places.front()]));
        }
        if (by_rows.size() == all_rows.size()) {
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
