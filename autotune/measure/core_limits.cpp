#include "autotune/measure/core_limits.h"

#include <algorithm>
#include <chrono>

#include "runtime/operands.h"

namespace normforge {

namespace {

using Vector [[gnu::vector_size(64)]] = uint64_t;  // on most CPUs several registers

// A first cache holds them beside what else is in use.
constexpr int kVectors = 256;
constexpr int kPasses = 100;
constexpr int kTakes = 40;  // the fastest counts: most are undisturbed
constexpr double kMovedBytes = double{kPasses} * kVectors * sizeof(Vector);

// The compiler may neither foresee the vectors nor leave a pass out.
inline void touch(Vector *vectors) {
    asm volatile("" : : "r"(vectors) : "memory");
}

// Eight sums, so that none waits for another.
[[gnu::always_inline]] inline void load_all(Vector *vectors) {
    constexpr int kSums = 8;
    Vector sums[kSums] = {};
    for (int pass = 0; pass < kPasses; pass++) {
        touch(vectors);
#pragma GCC unroll 1
        for (int i = 0; i < kVectors; i += kSums) {
#pragma GCC unroll 8
            for (int sum = 0; sum < kSums; sum++) {
                sums[sum] |= vectors[i + sum];
            }
        }
    }
    for (const Vector &sum : sums) {
        vectors[0] |= sum;
    }
    touch(vectors);
}

[[gnu::always_inline]] inline void store_all(Vector *vectors) {
    Vector stored = vectors[0];
    for (int pass = 0; pass < kPasses; pass++) {
#pragma GCC unroll 8
        for (int i = 0; i < kVectors; i++) {
            vectors[i] = stored;
        }
        touch(vectors);
    }
}

using Move = void (*)(Vector *);

struct Moves {
    Move load;
    Move store;
};

#if defined(__x86_64__)
[[gnu::target("avx512f")]] void load_avx512(Vector *vectors) {
    load_all(vectors);
}
[[gnu::target("avx512f")]] void store_avx512(Vector *vectors) {
    store_all(vectors);
}
[[gnu::target("avx2")]] void load_avx2(Vector *vectors) {
    load_all(vectors);
}
[[gnu::target("avx2")]] void store_avx2(Vector *vectors) {
    store_all(vectors);
}
#endif

Moves widest_moves() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) {
        return {load_avx512, store_avx512};
    }
    if (__builtin_cpu_supports("avx2")) {
        return {load_avx2, store_avx2};
    }
#endif
    return {load_all, store_all};
}

double bytes_per_nanosecond(Move move, Vector *vectors) {
    using Clock = std::chrono::steady_clock;
    double most = 0;
    for (int take = 0; take < kTakes; take++) {
        const Clock::time_point start = Clock::now();
        move(vectors);
        most =
            std::max(most, kMovedBytes / std::chrono::duration<double, std::nano>(Clock::now() - start).count());
    }
    return most;
}

}  // namespace

CoreLimits measure_core_limits() {
    alignas(4096) Vector vectors[kVectors] = {};
    const Moves moves = widest_moves();
    return {bytes_per_nanosecond(moves.load, vectors), bytes_per_nanosecond(moves.store, vectors)};
}

double least_nanoseconds(const NormProblem &problem, int64_t rows, const CoreLimits &limits) {
    double loaded = 0;
    double stored = 0;
    for (const Operand &operand : kOperands) {
        if (operand.shape == OperandShape::rows) {
            (is_written(problem, operand) ? stored : loaded) +=
                static_cast<double>(element_size(operand_type(problem, operand))) *
                static_cast<double>(problem.hidden) * static_cast<double>(rows);
        }
    }
    return std::max(loaded / limits.loaded, stored / limits.stored);
}

}  // namespace normforge
