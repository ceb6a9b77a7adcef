#include "autotune/search/knob_model.h"

#include <algorithm>

namespace normforge {

namespace {

// The knobs' values, and what two of them make together: lanes, values a step, and how blocks share and write.
std::vector<int> features(const Knobs &knobs) {
    std::vector<int> values;
    for (const Knob &knob : knob_table()) {
        values.push_back(knobs.*knob.member);
    }
    constexpr int kMore = 1000;  // than any knob's value
    values.push_back(knobs.lanes());
    values.push_back(knobs.vector * knobs.unroll);
    values.push_back(knobs.block * kMore + knobs.weights);
    values.push_back(knobs.block * kMore + knobs.stores);
    return values;
}

// How much slower than the best a schedule counts at most: how bad a bad one is tells nothing of good ones.
constexpr double kWorst = 1.5;

// Draws effects of few schedules to nothing, as one schedule more that has none would.
constexpr double kShrinkage = 1;

constexpr int kSweeps = 20;

}  // namespace

KnobModel::KnobModel(const std::vector<Knobs> &schedules, std::vector<double> log_times) {
    const double worst = std::ranges::min(log_times) + kWorst;
    for (double &log_time : log_times) {
        log_time = std::min(log_time, worst);
        mean_ += log_time / static_cast<double>(schedules.size());
    }
    std::vector<std::vector<int>> rows;
    for (const Knobs &knobs : schedules) {
        rows.push_back(features(knobs));
    }
    std::vector<double> left = log_times;
    for (double &each : left) {
        each -= mean_;
    }
    // One feature after the other explains what the others leave, until they agree.
    effects_.resize(rows.front().size());
    for (int sweep = 0; sweep < kSweeps; sweep++) {
        for (size_t feature = 0; feature < effects_.size(); feature++) {
            std::map<int, double> &effects = effects_[feature];
            std::map<int, std::pair<double, double>> sums;  // and counts
            for (size_t i = 0; i < rows.size(); i++) {
                auto &[sum, count] = sums[rows[i][feature]];
                left[i] += effects[rows[i][feature]];
                sum += left[i];
                count++;
            }
            for (const auto &[value, sum] : sums) {
                effects[value] = sum.first / (sum.second + kShrinkage);
            }
            for (size_t i = 0; i < rows.size(); i++) {
                left[i] -= effects[rows[i][feature]];
            }
        }
    }
}

double KnobModel::log_time(const Knobs &knobs) const {
    const std::vector<int> values = features(knobs);
    double sum = mean_;
    for (size_t feature = 0; feature < effects_.size(); feature++) {
        const auto effect = effects_[feature].find(values[feature]);
        sum += effect == effects_[feature].end() ? 0 : effect->second;
    }
    return sum;
}

}  // namespace normforge
