#include "schedules/space.h"

#include <algorithm>
#include <bit>

#include "runtime/operands.h"
#include "schedules/target.h"

namespace normforge {

namespace {

constexpr size_t kLeastStreamedBytes = 16;
constexpr int kMostUnrolledVectors = 32;

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
    if (problem.dtype == NF_F16 && knobs.vector == 16 && widens_by_halves(target) && problem.hidden >= 1024 &&
        problem.portable == NF_NO) {
        // As many lanes of half the width: Zen 4: 0.79 of the time for rms_norm of 4096 values, 0.91 for
        // layer_norm. On an Intel Xeon with AVX512-FP16 it is 1.45 to 1.56.
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

}  // namespace normforge
