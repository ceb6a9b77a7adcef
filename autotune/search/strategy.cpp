#include "autotune/search/strategy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "autotune/search/knob_model.h"
#include "autotune/search/selection.h"

namespace normforge {

namespace {

struct Plan {
    size_t most;       // schedules in all
    size_t first;      // in the first batch
    size_t predicted;  // in a later batch, the first in turn of those that seem best for some number of rows
    size_t near;       // and the neighbours of the best
    int patience;      // batches that may find nothing better
};

Plan plan_of(Effort effort) {
    switch (effort) {
    case Effort::quick:
        return {56, 24, 3, 3, 4};
    case Effort::normal:
        return {200, 48, 8, 8, 5};
    case Effort::exhaustive:
        break;
    }
    constexpr size_t kBatch = 128;
    return {SIZE_MAX, kBatch, 0, 0, std::numeric_limits<int>::max()};
}

// Takes the first of each list, then the second of each, and so on.
std::vector<Knobs> in_turn(const std::vector<std::vector<Knobs>> &lists) {
    std::vector<Knobs> result;
    for (size_t place = 0, more = 1; more > 0; place++) {
        more = 0;
        for (const std::vector<Knobs> &list : lists) {
            if (place < list.size()) {
                result.push_back(list[place]);
                more++;
            }
        }
    }
    return result;
}

}  // namespace

Strategy::Strategy(std::vector<Knobs> order, Effort effort, uint64_t seed)
    : order_(std::move(order)), proposed_(order_.size()), effort_(effort), random_(seed) {}

void Strategy::append_new(std::vector<Knobs> &batch, const std::vector<Knobs> &from, size_t count) {
    for (const Knobs &knobs : from) {
        const auto place = static_cast<size_t>(std::ranges::find(order_, knobs) - order_.begin());
        if (count > 0 && place < order_.size() && !proposed_[place]) {
            proposed_[place] = true;
            batch.push_back(knobs);
            count--;
        }
    }
}

// How well all numbers of rows would do with one arithmetic: the sum of the logarithms of its best ratios.
double Strategy::score(const std::vector<Told> &told) {
    double sum = 0;
    for (size_t rows = 0; rows < told.front().ratios.size(); rows++) {
        sum += std::log(std::ranges::min(told, {}, [&](const Told &t) { return t.ratios[rows]; }).ratios[rows]);
    }
    return sum;
}

// The best arithmetic's neighbours of its best schedules, one for each number of rows.
std::vector<Knobs> Strategy::near() {
    const auto best = std::ranges::min_element(told_, {}, [](const auto &entry) { return score(entry.second); });
    std::vector<std::vector<Knobs>> lists;
    for (size_t rows = 0; best != told_.end() && rows < best->second.front().ratios.size(); rows++) {
        const Told &leader = std::ranges::min(best->second, {}, [&](const Told &t) { return t.ratios[rows]; });
        lists.push_back(neighbours(leader.knobs));
        std::shuffle(lists.back().begin(), lists.back().end(), random_);
    }
    return in_turn(lists);
}

// What the model thinks best for each number of rows.
std::vector<Knobs> Strategy::predicted(size_t count) const {
    std::vector<Knobs> schedules;
    std::vector<std::vector<double>> log_times;  // by rows
    for (const auto &[arithmetic, told] : told_) {
        for (const Told &each : told) {
            schedules.push_back(each.knobs);
            log_times.resize(each.ratios.size());
            for (size_t rows = 0; rows < each.ratios.size(); rows++) {
                log_times[rows].push_back(std::log(each.ratios[rows]));
            }
        }
    }
    std::vector<Knobs> open;
    for (size_t place = 0; place < order_.size(); place++) {
        if (!proposed_[place]) {
            open.push_back(order_[place]);
        }
    }
    std::vector<std::vector<Knobs>> lists;
    for (const std::vector<double> &own : log_times) {
        const KnobModel model(schedules, own);
        std::vector<std::pair<double, size_t>> ranking;
        for (size_t i = 0; i < open.size(); i++) {
            ranking.emplace_back(model.log_time(open[i]), i);
        }
        std::ranges::sort(ranking);
        ranking.resize(std::min(ranking.size(), count));
        lists.emplace_back();
        for (const auto &[log_time, i] : ranking) {
            lists.back().push_back(open[i]);
        }
    }
    return in_turn(lists);
}

void Strategy::note_progress() {
    double now = std::numeric_limits<double>::infinity();
    for (const auto &[arithmetic, told] : told_) {
        now = std::min(now, score(told));
    }
    batches_without_gain_ = now < best_score_ - kLeastGain ? 0 : batches_without_gain_ + 1;
    best_score_ = std::min(best_score_, now);
}

std::vector<Knobs> Strategy::propose() {
    const Plan plan = plan_of(effort_);
    std::vector<Knobs> batch;
    if (tried_ == 0 || effort_ == Effort::exhaustive) {
        append_new(batch, order_, plan.first);
    } else {
        note_progress();
    }
    if (batch.empty() && batches_without_gain_ < plan.patience) {
        const size_t left = plan.most - std::min(plan.most, tried_);
        const size_t count = std::min(left, plan.predicted + plan.near);
        append_new(batch, predicted(plan.predicted), std::min(left, plan.predicted));
        append_new(batch, near(), count - batch.size());
        append_new(batch, order_, count - batch.size());
    }
    tried_ += batch.size();
    return batch;
}

void Strategy::tell(const Knobs &knobs, const std::optional<std::vector<double>> &ratios) {
    if (ratios) {
        told_[arithmetic_text(knobs)].push_back({knobs, *ratios});
    }
}

size_t most_candidates(Effort effort) {
    return plan_of(effort).most;
}

std::vector<KernelSpec> first_candidates(const NormProblem &problem, const Halide::Target &target, Effort effort,
                                         uint64_t seed, const std::vector<Knobs> &known) {
    std::vector<Knobs> all = candidates(problem, target, seed, known);
    all.resize(std::min(all.size(), most_candidates(effort)));
    std::vector<KernelSpec> specs;
    for (const Knobs &knobs : all) {
        specs.push_back({problem, knobs, target});
    }
    return specs;
}

}  // namespace normforge
