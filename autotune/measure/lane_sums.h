#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>

namespace normforge {

inline constexpr double kF32Rounding = 0x1p-24;   // of one operation, relative
inline constexpr double kF32Smallest = 0x1p-149;  // twice the error of one that underflows

// Where sums are merged in f32: sums of two sides, each as many lanes, over up to 1024 lanes, and what brings a
// lane's sums to the first side.
inline constexpr double kMerges = 14;

// Values that one lane sums in f32 before its sum moves to f64: every `lanes`-th from the first.
struct LaneRun {
    size_t first;
    size_t count;
    size_t lanes;

    size_t place(size_t step) const { return first + step * lanes; }
};

// The runs in which generators/row_reduction sums a row. It sums squares without a pivot in shorter ones, whose
// error is below theirs.
template <typename Function>
void for_each_run(size_t hidden, size_t lanes, Function &&function) {
    constexpr size_t kChunkSteps = 64;
    const size_t steps = hidden / lanes;
    const size_t chunk_steps = std::min(kChunkSteps, std::max<size_t>(steps / 3, 1));
    const size_t chunks = hidden <= 2 * kChunkSteps * lanes ? 0 : steps / chunk_steps - 1;
    for (size_t chunk = 0; chunk <= chunks; chunk++) {
        for (size_t lane = 0; lane < lanes; lane++) {
            const size_t first = chunk * chunk_steps * lanes + lane;
            const size_t rest = first < hidden ? (hidden - first + lanes - 1) / lanes : 0;
            if (rest > 0) {
                function(LaneRun{first, chunk < chunks ? chunk_steps : rest, lanes});
            }
        }
    }
}

// Calls with every number of lanes that a schedule may have: powers of two, up to one that holds the row.
template <typename Function>
void for_each_lanes(size_t hidden, Function &&function) {
    constexpr size_t kMostLanes = 256;
    for (size_t lanes = 1; lanes <= std::min(std::bit_ceil(hidden), kMostLanes); lanes *= 2) {
        function(lanes);
    }
}

// How far a right kernel's mean of a row's terms may be off, if lanes sum them in f32 and each term has been
// rounded that often: the worst number of lanes, from the partial sums that its lanes come to.
double lane_mean_error(std::span<const double> terms, double term_roundings);

}  // namespace normforge
