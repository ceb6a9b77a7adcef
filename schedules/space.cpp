#include "schedules/space.h"

#include <algorithm>
#include <bit>

namespace normforge {

namespace {

// f32 values in the widest vector register.
int native_vector(const Halide::Target &target) {
    return target.natural_vector_size(Halide::Float(32));
}

// The smallest power of two that holds a row, but no less than the smallest vector: wider than that, lanes idle.
int64_t useful_lanes(const NormProblem &problem) {
    return std::max<int64_t>(4, std::bit_ceil(static_cast<uint64_t>(problem.hidden)));
}

}  // namespace

std::string check(const NormProblem &problem, const Knobs &knobs, const Halide::Target &target) {
    if ((problem.op == NF_RMS_NORM) != (knobs.sums == kPlain)) {
        return "sums=plain is for rms_norm, lane_pivot and two_pass are for layer_norm";
    }
    if (knobs.vector > native_vector(target)) {
        return "vector is wider than the target's registers";
    }
    if (knobs.lanes() > useful_lanes(problem) || knobs.vector * knobs.unroll > useful_lanes(problem)) {
        return "vector * accumulators or vector * unroll is wider than the row";
    }
    if (knobs.sums == kLanePivot && problem.hidden < 3 * knobs.lanes()) {
        return "sums=lane_pivot needs three values in every lane";
    }
    return "";
}

std::vector<Knobs> enumerate(const NormProblem &problem, const Halide::Target &target) {
    std::vector<Knobs> all = {Knobs{}};
    for (const Knob &knob : knob_table()) {
        std::vector<Knobs> extended;
        for (const Knobs &knobs : all) {
            for (const KnobValue &value : knob.values) {
                extended.push_back(knobs);
                extended.back().*knob.member = value.value;
            }
        }
        all = std::move(extended);
    }
    std::erase_if(all, [&](const Knobs &knobs) { return !check(problem, knobs, target).empty(); });
    return all;
}

Knobs heuristic(const NormProblem &problem, const Halide::Target &target) {
    Knobs knobs{};
    knobs.vector = native_vector(target);
    while (knobs.vector > useful_lanes(problem)) {
        knobs.vector /= 2;
    }
    int64_t vectors = useful_lanes(problem) / knobs.vector;
    // Two loads a cycle and an addition latency of 3 to 4 cycles: four accumulators hide most of it, and more only
    // make the merge of the lanes longer.
    knobs.accumulators = static_cast<int>(std::min<int64_t>(4, vectors));
    knobs.unroll = static_cast<int>(std::min<int64_t>(4, vectors));
    knobs.prefetch = 0;
    knobs.writing = kAscending;
    if (problem.op == NF_RMS_NORM) {
        knobs.sums = kPlain;
        return knobs;
    }
    knobs.sums = kLanePivot;
    while (knobs.accumulators > 1 && problem.hidden < 3 * knobs.lanes()) {
        knobs.accumulators /= 2;
    }
    if (problem.hidden < 3 * knobs.lanes()) {
        knobs.sums = kTwoPass;
    }
    return knobs;
}

}  // namespace normforge
