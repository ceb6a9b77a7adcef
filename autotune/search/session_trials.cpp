#include "autotune/search/session_trials.h"

#include <fmt/format.h>

#include <algorithm>

#include "autotune/base/interruption.h"

namespace normforge {

SessionTrials::SessionTrials(Database &database, int64_t session)
    : database_(database), session_(session), trials_(database.trials(session, &ids_)) {
    for (size_t place = 0; place < trials_.size(); place++) {
        places_.emplace(std::pair(trials_[place].knobs, trials_[place].rows), place);
    }
}

size_t SessionTrials::place_of(const std::string &knobs, int64_t rows) const {
    const auto found = places_.find({knobs, rows});
    return found == places_.end() ? kNone : found->second;
}

void SessionTrials::add(Trial trial, const std::vector<int64_t> &rows) {
    if (const std::string same = twin(trial); trial.status == TrialStatus::ok && !same.empty()) {
        trial.message = "timed as " + same + ", whose machine code is the same";
    }
    for (int64_t each : rows) {
        if (place_of(trial.knobs, each) == kNone) {
            trial.rows = each;
            ids_.push_back(database_.add_trial(session_, trial));
            places_.emplace(std::pair(trial.knobs, each), trials_.size());
            trials_.push_back(trial);
        }
    }
}

std::string SessionTrials::twin(const Trial &trial) const {
    const auto first = std::ranges::find_if(trials_, [&](const Trial &other) {
        return other.status == TrialStatus::ok && !trial.code_hash.empty() && other.code_hash == trial.code_hash;
    });
    return first == trials_.end() || first->knobs == trial.knobs ? "" : first->knobs;
}

std::vector<size_t> SessionTrials::timed_places(const std::vector<std::string> &schedules,
                                                const std::vector<int64_t> &rows,
                                                const std::string &reference) const {
    std::vector<size_t> places;
    for (const std::string &knobs : schedules) {
        for (int64_t each : rows) {
            const size_t place = place_of(knobs, each);
            if (place != kNone && (knobs == reference || twin(trials_[place]).empty())) {
                places.push_back(place);
            }
        }
    }
    return places;
}

std::map<int, std::vector<size_t>> SessionTrials::lacking(const std::vector<size_t> &places, int64_t rows,
                                                          int samples) const {
    std::map<int, std::vector<size_t>> by_samples;
    for (size_t place : places) {
        const Trial &trial = trials_[place];
        const int own = static_cast<int>(trial.samples.size());
        if (trial.status == TrialStatus::ok && trial.rows == rows && own < samples) {
            by_samples[own].push_back(place);
        }
    }
    return by_samples;
}

void SessionTrials::keep(const std::vector<size_t> &places, int first_block, const std::function<bool()> &stop,
                         Progress &progress, const std::function<void(const ContestObserver &)> &contest) {
    double best = 1;
    const ContestObserver observer{.sample =
                                       [&](size_t contender, const Sample &sample) {
                                           Trial &trial = trials_[places[contender]];
                                           trial.samples.push_back(sample);
                                           best = std::min(best, median_ratio(trial));
                                           progress.advance(fmt::format("{:.2f}x the heuristic", 1 / best));
                                       },
                                   .out =
                                       [&](size_t contender, TrialStatus status, const std::string &reason) {
                                           Trial &trial = trials_[places[contender]];
                                           trial.status = status;
                                           trial.message = timing_failure(reason);
                                           database_.fail_trial(ids_[places[contender]], status, trial.message);
                                       },
                                   .stop = stop,
                                   .tell = [&](const std::string &what) { progress.say(what); }};
    const auto store = [&] {
        for (size_t place : places) {
            const std::vector<Sample> &samples = trials_[place].samples;
            const auto is_new = [&](const Sample &sample) { return sample.block >= first_block; };
            database_.add_samples(ids_[place], {std::ranges::find_if(samples, is_new), samples.end()});
        }
    };
    try {
        contest(observer);
    } catch (...) {
        store();  // what an interrupted wait for others left
        throw;
    }
    store();
    stop_if_interrupted();
}

}  // namespace normforge
