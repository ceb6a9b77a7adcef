#include "schedules/row_schedules.h"

#include <algorithm>

#include "runtime/operands.h"
#include "schedules/space.h"
#include "schedules/target.h"
#include "schedules/value_pairs.h"

namespace normforge {

namespace {

// From so many bytes of rows on, read and written, streaming stores pay. Zen 4, f32: at 8 MiB they take 1.07 of
// the time of layer_norm 1024, 1.36 of rms_norm 2048 and 0.91 of rms_norm 4096; at 12 MiB 0.77 and 0.99 of the
// first two, at 16 MiB 0.92 of the second and 0.57 of the third.
constexpr int64_t kStreamedBytes = int64_t{12} << 20;

// The same where second and last caches are larger. Intel Xeon (2 and 480 MiB, shared), rms_norm: f32 1024 at 8 to
// 16 MiB 1.03 to 1.1, at 32 MiB 0.95, at 64 MiB 0.8; bf16 4096 at 16 and 32 MiB 1.17 and 1.1, at 64 MiB 0.79.
constexpr int64_t kStreamedBytesOfIntel = int64_t{32} << 20;

constexpr int64_t kTinyRow = 128;  // below, merging the lanes of a layer_norm takes longer than its values do
constexpr int64_t kShortRow = 512;
constexpr int64_t kLongRow = 4096;  // from here on weight and bias do not stay in the first cache beside a row

// AVX-512's registers, each of which is a line of the caches. Streamed by halves, the lines of several rows leave
// the core before they are whole.
bool has_line_registers(const Halide::Target &target) {
    return vector_bits(target) >= 512;
}

bool has_affine(const NormProblem &problem) {
    return problem.weight != NF_NONE || problem.bias != NF_NONE;
}

// Else, rows but the first one begin within a line.
bool has_whole_lines(const NormProblem &problem) {
    return problem.hidden * static_cast<int64_t>(element_size(problem.dtype)) % 64 == 0;
}

// Blocks of f32 rows without a residual, while these and what is written of them stay in the first cache: their
// statistics are f64 vectors of several rows. Times are of Zen 4, over one row after the other unless said
// otherwise; those of 8 to 16 rows over blocks of 8.
Knobs in_blocks(const NormProblem &problem, Knobs knobs) {
    const bool has_32_registers = knobs.vector > 8;
    if (problem.hidden > kShortRow) {
        // rms_norm of 640 to 1024 values 0.81 to 0.92, layer_norm of 640 and 768 0.91 to 0.95, but of 1024 0.98 to
        // 1.03, and at 1280 1.1.
        knobs.block = problem.hidden <= (problem.op == NF_RMS_NORM ? 1024 : 768) ? 4 : 1;
        return knobs;
    }
    knobs.block = 8;  // 0.75 to 0.95
    if (has_32_registers && problem.op == NF_RMS_NORM && problem.hidden <= 256) {
        // 0.82 to 0.91. With 16 registers 0.99 to 1.04.
        knobs.block = 16;
        knobs.unroll = std::min(knobs.unroll, 2);
    } else if (problem.op == NF_LAYER_NORM && problem.hidden < kTinyRow) {
        knobs.block = 16;  // 0.95; with 16 registers 0.96 to 0.98
    } else if (has_32_registers && has_affine(problem) && problem.op == NF_LAYER_NORM &&
               problem.hidden < kShortRow) {
        // 0.92 to 0.99, and 0.75 to 0.93 beside streaming stores. At 512 values, where the rows of a block lie in
        // the same lines of the first cache, 1.2.
        knobs.weights = kShared;
        knobs.unroll = std::min(knobs.unroll, 2);
    }
    return knobs;
}

// The same, of 16-bit rows as well, on Intel's cores with AVX-512, which load two vectors of 64 bytes a cycle but
// have two units for all arithmetic: what saves operations pays. Times are of an Intel Xeon (2 MiB of second
// cache), 64 rows, over one row after the other.
Knobs for_many_rows_of_intel(const NormProblem &problem, Knobs knobs) {
    const bool is_layer_norm = problem.op == NF_LAYER_NORM;
    const bool has_residual = problem.residual != NF_NONE;
    const bool stores_sum = problem.sum != NF_NONE;
    const auto share = [&](int block, int most_unrolled) {
        knobs.block = block;
        knobs.weights = has_affine(problem) ? kShared : kPerRow;
        knobs.unroll = std::min(knobs.unroll, most_unrolled);
    };
    if (element_size(problem.dtype) == sizeof(float)) {
        if (!has_residual && problem.hidden <= kTinyRow) {
            share(16, 2);  // rms_norm 0.82 to 0.99, layer_norm 0.58 to 0.64
        } else if (!has_residual && is_layer_norm && problem.hidden <= 1024) {
            knobs.block = problem.hidden <= 256 ? 8 : 4;  // 0.83 to 0.92; rms_norm 1.0 to 1.2
            if (has_whole_lines(problem)) {
                share(knobs.block, 2);  // 0.69 to 0.91. Of 500, 700, 1000 and 1020 values 1.04 to 1.46.
            }
        } else if (has_residual && problem.hidden <= kTinyRow && (is_layer_norm || !stores_sum)) {
            knobs.block = 16;  // layer_norm 0.62 to 0.89, rms_norm 0.87 to 0.96, but storing the sum 1.1 to 1.3
        } else if (has_residual && problem.hidden <= kShortRow && is_layer_norm && !stores_sum) {
            knobs.block = 8;  // 0.78 to 0.82; storing the sum 1.02 to 1.1
        }
    } else if (!has_residual) {
        const bool is_short = problem.hidden <= 1024;
        share(is_short ? 16 : 8, is_short ? 2 : 4);  // 0.55 to 0.84, of 4096 values 0.78 to 0.95
        if (problem.dtype == NF_BF16 && !has_whole_lines(problem) && problem.hidden >= kShortRow / 2) {
            // Of 500 values 0.75 to 0.77 instead of 0.80 to 0.88, of 3000 0.83 to 0.91 instead of 0.92 to 1.1.
            knobs.block /= 2;
        }
    } else if (problem.dtype == NF_F16) {
        const bool is_short = problem.hidden <= kShortRow;
        // 0.64 to 0.87; of 1024 to 4096 values 0.81 to 0.88, storing the sum 0.86 to 1.01
        share(is_short ? 16 : stores_sum ? 4 : 8, is_short ? 2 : 4);
    } else if (problem.hidden <= (is_layer_norm || !has_whole_lines(problem) ? 256 : kShortRow)) {
        share(16, 2);  // 0.70 to 0.78, of 512 values 0.94
    } else if (is_layer_norm) {
        share(stores_sum && !has_whole_lines(problem) ? 2 : 4,
              2);  // 0.84 to 0.98, of 4 such rows of 1000 values 1.13
    } else if (!has_whole_lines(problem) && !stores_sum) {
        share(4, 2);  // 0.89 to 0.99; of whole lines from 1024 values on 1.0 to 1.1
    }
    return knobs;
}

// For many rows in cache.
Knobs for_many_rows(const NormProblem &problem, const Halide::Target &target, Knobs knobs) {
    if (is_for_intel_server(target)) {
        return for_many_rows_of_intel(problem, knobs);
    }
    const bool is_below_avx512 = !is_arm(target) && !has_line_registers(target);
    if (element_size(problem.dtype) == sizeof(float)) {
        if (problem.residual == NF_NONE) {
            return in_blocks(problem, knobs);
        }
        // Blocks take 1.0 to 1.6, but 4 rows of 512 values 0.85 to 0.97, and 16 of 64 of layer_norm 0.83 to 0.88.
        knobs.block = problem.hidden > kShortRow / 2 && problem.hidden <= kShortRow ? 4
                      : problem.hidden < kTinyRow && problem.op == NF_LAYER_NORM    ? 16
                                                                                    : 1;
    } else if (has_affine(problem) && problem.dtype == NF_BF16 && problem.residual == NF_NONE &&
               (knobs.vector > 8 || problem.hidden < kLongRow)) {
        // Weight and bias are widened once for some rows: 0.61 to 0.95 of the time of rms_norm, of layer_norm 0.83
        // to 0.92. With a residual the rows of a block leave the first cache: 1.0 to 1.7. With AVX2 4096 values
        // take 1.05 to 1.12, shorter rows 0.70 to 0.95.
        knobs.block = problem.hidden <= kShortRow ? 8 : 4;
        knobs.weights = kShared;
        if (value_pairs(problem, knobs, target).written) {
            knobs.unroll = 2;
            if (problem.op == NF_RMS_NORM && problem.hidden < kTinyRow) {
                knobs.block = 16;  // 0.83 of the time of 8 at 64 values
            }
        }
    } else if (problem.dtype == NF_BF16 && problem.residual != NF_NONE &&
               problem.hidden <= (is_below_avx512 ? kTinyRow : kShortRow / 2)) {
        knobs.block = 16;  // 0.69 to 0.84 of the time; 256 values with AVX2 (Zen 3) 1.0 to 1.5
        knobs.unroll = std::min(knobs.unroll, 2);
    } else if (has_affine(problem) && problem.dtype == NF_F16) {
        // With a residual 4 rows take 1.2 to 1.4 at 2048 and 4096 values, 2 rows 0.93 to 0.98.
        knobs.block = problem.residual == NF_NONE ? 4 : 2;
        knobs.weights = kShared;
        if (problem.op == NF_LAYER_NORM && problem.residual == NF_NONE && problem.hidden <= kShortRow) {
            knobs.block = 16;  // 0.82 to 0.92 of the time of 4
            knobs.unroll = std::min(knobs.unroll, 2);
        }
    }
    return knobs;
}

// For rows from memory on Intel's cores with AVX-512: one after the other, as a row is asked for while one before
// it is summed, and written by streaming stores. Over cached stores alone that takes 0.55 to 0.88 of the time,
// blocks that share weights take 0.61 to 1.1 (Intel Xeon, 256 MiB each of x and y).
Knobs for_cold_rows_of_intel(const NormProblem &problem, Knobs knobs, const Knobs &many) {
    const bool is_narrow = element_size(problem.dtype) < sizeof(float);
    knobs.writing = kAscending;
    knobs.prefetch = 2;
    if (!has_whole_lines(problem)) {
        return problem.hidden < kTinyRow ? many : knobs;  // 1000 values: bf16 0.73 and 0.84, f32 0.94 and 1.04
    }
    knobs.stores = kStreaming;
    if (problem.hidden < kTinyRow && (is_narrow || (problem.op == NF_LAYER_NORM && problem.residual == NF_NONE))) {
        // 64 values: 0.79 to 0.97, one by one 0.84 to 1.6.
        knobs.block = 4;
        knobs.weights = has_affine(problem) ? kShared : kPerRow;
        knobs.prefetch = has_affine(problem) ? 1 : 0;
    }
    return knobs;
}

// For rows from memory, by what is best for few and for many in cache. What is said of AVX2 is of Zen 3.
Knobs for_cold_rows(const NormProblem &problem, const Halide::Target &target, const Knobs &few,
                    const Knobs &many) {
    const bool has_lines = has_line_registers(target);
    const bool is_long = problem.hidden >= kLongRow;
    const bool is_narrow = element_size(problem.dtype) < sizeof(float);
    if (written_value_bytes(problem) < element_size(problem.dtype)) {
        return is_narrow ? few : many;
    }
    if (is_for_intel_server(target)) {
        return for_cold_rows_of_intel(problem, few, many);
    }
    if (is_narrow && problem.dtype == NF_BF16 && problem.hidden <= kShortRow / 2) {
        // In blocks rms_norm takes 0.70 to 0.75 of the time, layer_norm 0.84 to 0.86, with a residual 0.80 to
        // 0.83. With one, blocks of 16 take 0.85 to 0.9 of the time of 8 at 64 values, but 1.2 of blocks of 4 at
        // 256.
        const bool is_in_small_blocks = problem.residual != NF_NONE && problem.hidden > kTinyRow / 2;
        Knobs knobs = is_in_small_blocks ? few : many;
        knobs.weights = kPerRow;
        knobs.block = std::max(knobs.block, is_in_small_blocks && problem.hidden <= kTinyRow ? 8 : 4);
        return knobs;
    }
    if (is_narrow) {
        // A core is busy with shorter rows for longer than memory is, so streaming stores do not pay: 1.0 to 1.2
        // of the time at 1024 and 2048 values. At 4096 and 8192 they take 0.55 to 0.78, and with a residual 0.72
        // to 1.0 from 1024 on; with AVX2 0.76 to 0.79 of f16, but of bf16 0.93 to 1.35 of prefetching alone, which
        // takes 0.75 to 1.0.
        Knobs knobs = is_long && problem.dtype == NF_BF16 ? many : few;
        const bool is_streamed = problem.residual == NF_NONE
                                     ? is_long
                                     : problem.hidden >= 1024 && (has_lines || problem.dtype == NF_F16);
        if (is_streamed) {
            knobs.stores = kStreaming;
            knobs.prefetch = knobs.block > 1 ? 1 : 2;
        } else if (!has_lines && problem.hidden >= 1024) {
            knobs.prefetch = 2;
        }
        return knobs;
    }
    // AVX2: 256 values in blocks take 1.1 to 1.25 of the time of one row after the other, prefetched.
    const int64_t most_in_blocks = has_lines ? kShortRow : kTinyRow;
    const bool has_blocks =
        problem.hidden <= most_in_blocks && (problem.residual == NF_NONE || problem.hidden > kShortRow / 2);
    Knobs knobs = has_blocks ? many : few;
    knobs.writing = kAscending;
    if (problem.op == NF_LAYER_NORM && problem.residual == NF_NONE && problem.hidden < kTinyRow) {
        knobs.block = 8;  // 16 rows take 1.3
        if (has_lines) {
            return knobs;  // 0.82 of the time with streaming stores; AVX2 1.2
        }
    }
    knobs.stores = kStreaming;
    if (has_lines && is_long && has_affine(problem) &&
        (problem.residual == NF_NONE || problem.op == NF_LAYER_NORM)) {
        // 0.70 to 0.93 of the time at 4096 and 8192 values; of rms_norm with a residual 1.05. AVX2: 2.5 to 6.
        knobs.block = 4;
        knobs.weights = kShared;
    }
    // Rows of a few lines are there before they are asked for: 64 values with a residual 0.77 to 0.9 without.
    const bool is_one_by_one = knobs.block == 1 && problem.hidden >= kTinyRow;
    knobs.prefetch = is_one_by_one || knobs.weights == kShared ? 1 : 0;
    return knobs;
}

}  // namespace

std::vector<RowsSchedule> heuristic_for_rows(const NormProblem &problem, const Halide::Target &target) {
    const auto is_legal = [&](const Knobs &knobs) { return check(problem, knobs, target).empty(); };
    std::vector<RowsSchedule> result = {{0, heuristic(problem, target)}};
    const auto add = [&](int64_t min_rows, const Knobs &knobs) {
        if (min_rows > result.back().min_rows && knobs != result.back().knobs && is_legal(knobs)) {
            result.push_back({min_rows, knobs});
        }
    };
    const Knobs few = result.front().knobs;
    const Knobs many = for_many_rows(problem, target, few);
    // A block that is not full costs as much as one that is.
    add(std::max(16, 2 * many.block), many);
    if (is_arm(target)) {
        // Its cores see by themselves that lines are written whole; what the hint is worth there was not measured.
        return result;
    }
    // Where rows cannot be streamed in blocks, they may be one by one.
    Knobs cold = for_cold_rows(problem, target, few, many);
    if (!is_legal(cold)) {
        cold = for_cold_rows(problem, target, few, few);
    }
    const int64_t streamed_bytes = is_for_intel_server(target) ? kStreamedBytesOfIntel : kStreamedBytes;
    add(std::max<int64_t>(2, streamed_bytes / row_bytes(problem)), cold);
    return result;
}

}  // namespace normforge
