#include "schedules/space.h"

#include <algorithm>
#include <bit>

#include "runtime/operands.h"
#include "schedules/target.h"
#include "schedules/value_pairs.h"

namespace normforge {

namespace {

constexpr size_t kLeastStreamedBytes = 16;
constexpr int kMostUnrolledVectors = 32;

// From so many bytes of rows on, read and written, streaming stores pay. Zen 4, f32: at 8 MiB they take 1.07 of
// the time of layer_norm 1024, 1.36 of rms_norm 2048 and 0.91 of rms_norm 4096; at 12 MiB 0.77 and 0.99 of the
// first two, at 16 MiB 0.92 of the second and 0.57 of the third.
constexpr int64_t kStreamedBytes = int64_t{12} << 20;

// f32 values in the widest vector register.
int native_vector(const Halide::Target &target) {
    return vector_bits(target) / 32;
}

// The smallest power of two that holds a row, but no less than the smallest vector: wider than that, lanes idle.
int64_t useful_lanes(const NormProblem &problem) {
    return std::max<int64_t>(4, std::bit_ceil(static_cast<uint64_t>(problem.hidden)));
}

bool has_row_outputs(const NormProblem &problem) {
    return std::ranges::any_of(kOperands, [&](const Operand &operand) {
        return operand.shape == OperandShape::row_values && operand_type(problem, operand) != NF_NONE;
    });
}

// Of the narrowest value in the rows that are written.
size_t written_value_bytes(const NormProblem &problem) {
    size_t least = sizeof(double);
    for (const Operand &operand : kOperands) {
        const nf_dtype type = operand_type(problem, operand);
        if (operand.shape == OperandShape::rows && type != NF_NONE && is_written(problem, operand)) {
            least = std::min(least, element_size(type));
        }
    }
    return least;
}

// Sums about pivots: what a layer norm's moments need. Gradients come from saved statistics.
bool has_pivots(const NormProblem &problem) {
    return problem.op == NF_LAYER_NORM && problem.pass == NF_FORWARD;
}

// The lanes of a portable kernel, whatever the registers: as many as 16 registers of SSE serve well.
int portable_lanes(const NormProblem &problem) {
    return static_cast<int>(std::min<int64_t>(32, useful_lanes(problem)));
}

Sums default_sums(const NormProblem &problem) {
    return has_pivots(problem) ? kRowPivot : kPlain;
}

}  // namespace

std::string check(const NormProblem &problem, const Knobs &knobs, const Halide::Target &target) {
    if (has_pivots(problem) == (knobs.sums == kPlain)) {
        return "sums=row_pivot and two_pass are for the forward pass of layer_norm, plain for all else";
    }
    if (problem.portable == NF_YES &&
        (knobs.lanes() != portable_lanes(problem) || knobs.sums != default_sums(problem))) {
        return "a portable kernel's sums and vector * accumulators are fixed";
    }
    if (knobs.writing == kDescending && (problem.pass == NF_BACKWARD || has_row_outputs(problem))) {
        return "writing=descending is for forward passes that write nothing but rows";
    }
    if (knobs.vector > native_vector(target)) {
        return "vector is wider than the target's registers";
    }
    if (knobs.lanes() > useful_lanes(problem) || knobs.vector * knobs.unroll > useful_lanes(problem)) {
        return "vector * accumulators or vector * unroll is wider than the row";
    }
    if (knobs.stores == kStreaming && knobs.vector * written_value_bytes(problem) < kLeastStreamedBytes) {
        return "stores=streaming is for vectors of 16 bytes and more in the rows that are written";
    }
    if (knobs.stores == kStreaming && is_arm(target) && vector_bits(target) > 128) {
        // LLVM 23 loses SVE's hint where two registers make an address.
        return "stores=streaming is for registers of 128 bits on ARM";
    }
    if (knobs.stores == kStreaming && problem.hidden % knobs.vector != 0) {
        return "stores=streaming is for rows of whole vectors";
    }
    if (knobs.block > 1 &&
        (knobs.writing == kDescending || problem.pass == NF_BACKWARD || has_row_outputs(problem))) {
        return "block is for forward passes that write nothing but rows, ascending";
    }
    if (knobs.prefetch > 0 && knobs.block > 1 && knobs.weights == kPerRow) {
        return "a block is prefetched where its rows share the loads of weight and bias";
    }
    if (knobs.weights == kShared && (knobs.block == 1 || knobs.block * knobs.unroll > kMostUnrolledVectors ||
                                     (problem.weight == NF_NONE && problem.bias == NF_NONE))) {
        return "weights=shared is for blocks with a weight or bias, and block * unroll of at most 32";
    }
    return "";
}

void require_fit(const NormProblem &problem, const Knobs &knobs, const Halide::Target &target) {
    require_fit(to_text(knobs), to_text(problem), check(problem, knobs, target));
}

std::vector<Knobs> enumerate(const NormProblem &problem, const Halide::Target &target) {
    std::vector<Knobs> all = all_knobs<Knobs>(knob_table());
    std::erase_if(all, [&](const Knobs &knobs) { return !check(problem, knobs, target).empty(); });
    return all;
}

Knobs heuristic(const NormProblem &problem, const Halide::Target &target) {
    const bool is_layer_norm = problem.op == NF_LAYER_NORM;
    Knobs knobs{};
    knobs.vector = native_vector(target);
    while (knobs.vector > useful_lanes(problem)) {
        knobs.vector /= 2;
    }
    // More lanes hide the latency of the sums, fewer are merged sooner. Layer norm's merge is the longer one: with
    // 32 lanes rather than 64, 384 values took 0.84 of the time and 1024 values 0.91 (Zen 4, AVX-512, in cache),
    // and with 16 rather than 32, blocks of 256 values 0.88 to 0.91 but a row by itself 1.02 to 1.05;
    // rms_norm and long rows gain from 64. Short rows want a few values in each. An accumulator of layer norm
    // takes three registers, forward and backward, and x86 below AVX-512 has 16: 4096 values took 0.67 us with 4
    // of them and 0.81 us with 8 (the same CPU, AVX2).
    const int64_t most_accumulators = is_layer_norm ? 4 : 8;
    const int64_t most_lanes = is_layer_norm && problem.hidden < 2048 ? 32 : 64;
    const int64_t values_of_lane = has_pivots(problem) && problem.hidden < 384 ? 16 : 8;
    const int64_t lanes = std::min(most_lanes, problem.hidden / values_of_lane);
    knobs.accumulators = static_cast<int>(std::clamp<int64_t>(
        static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(lanes, 1)))) / knobs.vector, 1,
        most_accumulators));
    if (problem.portable == NF_YES) {
        knobs.accumulators = portable_lanes(problem) / knobs.vector;
    }
    // A backward pass walks down columns of that many vectors. Where rows are a multiple of a page apart, a load
    // waits for stores of the row before whose last 12 bits are the same, unless they are long past: 1024 f32
    // values took 252 ns a row with 8 vectors of 16 and 367 with 4 (Zen 4, in cache).
    const bool is_wide_gradient = problem.pass == NF_BACKWARD && problem.dtype == NF_F32 && knobs.vector == 16;
    knobs.unroll =
        static_cast<int>(std::min<int64_t>(is_wide_gradient ? 8 : 4, useful_lanes(problem) / knobs.vector));
    if (problem.dtype == NF_F16 && knobs.vector == 16 && !is_arm(target) && problem.hidden >= 1024 &&
        problem.portable == NF_NO) {
        // As many lanes of half the width: conversions of 16 f16 values are two of 8 (Zen 4: 0.79 of the time for
        // rms_norm of 4096 values, 0.91 for layer_norm).
        knobs.vector /= 2;
        knobs.accumulators *= 2;
        knobs.unroll *= 2;
    }
    // 0.94 to 0.98 of the time for f32 rows of 8192 values, or of 4096 with a residual, in any cache. Shorter rows
    // are written from their start in 0.92 to 1.0 of the time from their end.
    constexpr int64_t kLeastDescendingBytes = 64 << 10;
    knobs.writing = problem.dtype == NF_F32 && problem.pass == NF_FORWARD && !has_row_outputs(problem) &&
                            row_bytes(problem) >= kLeastDescendingBytes
                        ? kDescending
                        : kAscending;
    knobs.prefetch = 0;
    knobs.stores = kCached;
    knobs.block = 1;
    knobs.weights = kPerRow;
    knobs.sums = default_sums(problem);
    return knobs;
}

namespace {

constexpr int64_t kTinyRow = 128;  // below, merging the lanes of a layer_norm takes longer than its values do
constexpr int64_t kShortRow = 512;
constexpr int64_t kLongRow = 4096;  // from here on weight and bias do not stay in the first cache beside a row

bool has_affine(const NormProblem &problem) {
    return problem.weight != NF_NONE || problem.bias != NF_NONE;
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

// For many rows in cache.
Knobs for_many_rows(const NormProblem &problem, const Halide::Target &target, Knobs knobs) {
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
    } else if (problem.dtype == NF_BF16 && problem.residual != NF_NONE && problem.hidden <= kShortRow / 2) {
        knobs.block = 16;  // 0.69 to 0.84 of the time
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

// For rows from memory, by what is best for few and for many in cache.
Knobs for_cold_rows(const NormProblem &problem, const Knobs &few, const Knobs &many) {
    const bool is_long = problem.hidden >= kLongRow;
    const bool is_narrow = element_size(problem.dtype) < sizeof(float);
    if (written_value_bytes(problem) < element_size(problem.dtype)) {
        return is_narrow ? few : many;
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
        // to 1.0 from 1024 on.
        Knobs knobs = is_long && problem.dtype == NF_BF16 ? many : few;
        if (is_long || (problem.residual != NF_NONE && problem.hidden >= 1024)) {
            knobs.stores = kStreaming;
            knobs.prefetch = knobs.block > 1 ? 1 : 2;
        }
        return knobs;
    }
    const bool has_blocks =
        problem.hidden <= kShortRow && (problem.residual == NF_NONE || problem.hidden > kShortRow / 2);
    Knobs knobs = has_blocks ? many : few;
    knobs.writing = kAscending;
    if (problem.op == NF_LAYER_NORM && problem.residual == NF_NONE && problem.hidden < kTinyRow) {
        knobs.block = 8;  // 0.82 of the time with streaming stores; 16 rows take 1.3
        return knobs;
    }
    knobs.stores = kStreaming;
    if (is_long && has_affine(problem) && (problem.residual == NF_NONE || problem.op == NF_LAYER_NORM)) {
        // 0.70 to 0.93 of the time at 4096 and 8192 values; of rms_norm with a residual 1.05.
        knobs.block = 4;
        knobs.weights = kShared;
    }
    knobs.prefetch = knobs.block == 1 || knobs.weights == kShared ? 1 : 0;
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
    Knobs cold = for_cold_rows(problem, few, many);
    if (!is_legal(cold)) {
        cold = for_cold_rows(problem, few, few);
    }
    add(std::max<int64_t>(2, kStreamedBytes / row_bytes(problem)), cold);
    return result;
}

}  // namespace normforge
