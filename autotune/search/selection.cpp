#include "autotune/search/selection.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "autotune/base/robust_stats.h"

namespace normforge {

namespace {

struct Measured {
    const Trial *trial;
    bool is_reference;
    double ratio;
    double handicapped;  // the ratio by which it is compared: the reference's is made smaller by the least gain
};

// The trials of one number of rows, those of one digest, that were sampled to the end.
using Finalists = std::map<std::string, std::vector<Measured>>;

Finalists finalists(const std::vector<Trial> &trials, int64_t rows, const std::string &reference_knobs,
                    double least_gain) {
    const size_t most = std::max<size_t>(1, most_samples(trials, rows));
    Finalists result;
    for (const Trial &trial : trials) {
        if (trial.rows == rows && trial.status == TrialStatus::ok && trial.samples.size() == most) {
            const bool is_reference = trial.knobs == reference_knobs;
            const double ratio = median_ratio(trial);
            const double handicapped = is_reference ? ratio * (1 - least_gain) : ratio;
            result[trial.output_digest].push_back({&trial, is_reference, ratio, handicapped});
        }
    }
    return result;
}

const Measured &best_of(const std::vector<Measured> &measured, double noise) {
    const double fastest = std::ranges::min_element(measured, {}, &Measured::handicapped)->handicapped;
    auto rank = [&](const Measured &m) {
        // The reference takes no part in ties: its handicap decides whether it stays.
        const bool in_front = m.handicapped <= fastest * (m.is_reference ? 1 : 1 + noise);
        return std::tuple(!in_front, !m.is_reference, m.trial->code_bytes, m.trial->knobs);
    };
    return *std::ranges::min_element(measured, {}, rank);
}

// Of the reference against itself; nothing where it was not timed.
std::optional<double> noise_at(const std::vector<Trial> &trials, int64_t rows,
                               const std::string &reference_knobs) {
    for (const Trial &trial : trials) {
        if (trial.rows == rows && trial.knobs == reference_knobs && trial.samples.size() > 1) {
            return median_uncertainty(sample_ratios(trial));
        }
    }
    return std::nullopt;
}

}  // namespace

Selection select_best(const std::vector<Trial> &trials, const std::string &reference_knobs) {
    double noise = 0;
    double own_noise = 0;
    std::set<int64_t> all_rows;
    for (const Trial &trial : trials) {
        all_rows.insert(trial.rows);
    }
    std::map<std::string, Selection> by_digest;
    std::map<std::string, double> log_ratios;
    for (int64_t rows : all_rows) {
        // Rows for which the reference was not timed take the noise of fewer ones.
        own_noise = noise_at(trials, rows, reference_knobs).value_or(own_noise);
        noise = std::max(noise, own_noise);
        for (const auto &[digest, measured] :
             finalists(trials, rows, reference_knobs, std::max(kLeastGain, own_noise))) {
            const Measured &winner = best_of(measured, own_noise);
            by_digest[digest].choices.push_back({rows, winner.trial->knobs, winner.ratio,
                                                 median_of(*winner.trial, &Sample::ns),
                                                 median_of(*winner.trial, &Sample::reference_ns)});
            log_ratios[digest] += std::log(winner.handicapped);
        }
    }
    Selection best{{}, "", noise};
    for (auto &[digest, selection] : by_digest) {
        const bool serves_all_rows = selection.choices.size() == all_rows.size();
        if (serves_all_rows && (!best.complete() || log_ratios[digest] < log_ratios[best.output_digest])) {
            best = {selection.choices, digest, noise};
        }
    }
    return best;
}

}  // namespace normforge
