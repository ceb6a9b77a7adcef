#include "autotune/search/trial_field.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "autotune/base/interruption.h"

namespace normforge {

namespace {

// Long enough for the clock, short enough to fit between most interruptions.
constexpr double kSampleNanoseconds = 250e3;

}  // namespace

TrialField::TrialField(Database &database, int64_t session)
    : database_(database), session_(session), trials_(database.trials(session, &ids_)) {
    for (size_t place = 0; place < trials_.size(); place++) {
        places_.emplace(std::pair(trials_[place].knobs, trials_[place].rows), place);
    }
}

size_t TrialField::place_of(const std::string &knobs, int64_t rows) const {
    const auto found = places_.find({knobs, rows});
    return found == places_.end() ? kNone : found->second;
}

void TrialField::add(Trial trial, const std::vector<int64_t> &rows) {
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

std::string TrialField::twin(const Trial &trial) const {
    const auto first = std::ranges::find_if(trials_, [&](const Trial &other) {
        return other.status == TrialStatus::ok && !trial.code_hash.empty() && other.code_hash == trial.code_hash;
    });
    return first == trials_.end() || first->knobs == trial.knobs ? "" : first->knobs;
}

void TrialField::set_kernel(const std::string &knobs, std::unique_ptr<LoadedKernel> kernel) {
    kernels_[knobs] = std::move(kernel);
}

void TrialField::move_kernels(const std::vector<size_t> &places, const std::string &reference_knobs) {
    std::set<std::string> all = {reference_knobs};
    for (size_t place : places) {
        all.insert(trials_[place].knobs);
    }
    for (const std::string &knobs : all) {
        std::unique_ptr<LoadedKernel> &kernel = kernels_.at(knobs);
        kernel = kernel->loaded_again();
    }
}

void TrialField::time(const std::vector<size_t> &places, int blocks, const std::string &reference_knobs,
                      const TimingOperands &operands, uint64_t seed, const std::function<bool()> &stop,
                      Progress &progress) {
    std::map<int, std::vector<size_t>> by_samples;
    for (size_t place : places) {
        const Trial &trial = trials_[place];
        const int samples = static_cast<int>(trial.samples.size());
        if (trial.status == TrialStatus::ok && trial.rows == operands.arguments().rows && samples < blocks) {
            by_samples[samples].push_back(place);
        }
    }
    // Another one than the contender of these knobs, so that the noise has what different places in memory do.
    const std::unique_ptr<LoadedKernel> reference = kernels_.at(reference_knobs)->loaded_again();
    for (const auto &[samples, own] : by_samples) {
        time_together(
            own,
            {.sample = {}, .out = {}, .stop = stop, .tell = [&](const std::string &what) { progress.say(what); }},
            {&reference->kernel(), {}, &operands, samples, blocks - samples, kSampleNanoseconds, seed}, progress);
        stop_if_interrupted();
    }
}

void TrialField::time_together(const std::vector<size_t> &places, const ContestObserver &common, Contest contest,
                               Progress &progress) {
    for (size_t place : places) {
        contest.contenders.push_back(&kernels_.at(trials_[place].knobs)->kernel());
    }
    double best = 1;
    ContestObserver observer = common;
    observer.sample = [&](size_t contender, const Sample &sample) {
        Trial &trial = trials_[places[contender]];
        trial.samples.push_back(sample);
        best = std::min(best, median_ratio(trial));
        progress.advance(fmt::format("{:.2f}x the heuristic", 1 / best));
    };
    observer.out = [&](size_t contender, TrialStatus status, const std::string &reason) {
        Trial &trial = trials_[places[contender]];
        trial.status = status;
        trial.message = timing_failure(reason);
        database_.fail_trial(ids_[places[contender]], status, trial.message);
    };
    const auto store = [&] {
        for (size_t place : places) {
            const std::vector<Sample> &samples = trials_[place].samples;
            const auto is_new = [&](const Sample &sample) { return sample.block >= contest.first_block; };
            database_.add_samples(ids_[place], {std::ranges::find_if(samples, is_new), samples.end()});
        }
    };
    try {
        run_contest(contest, observer);
    } catch (...) {
        store();  // what an interrupted wait for others left
        throw;
    }
    store();
}

}  // namespace normforge
