#include "autotune/measure/core_limits.h"

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "runtime/operands.h"

namespace normforge {

namespace {

// One register each: GCC takes a wider vector to pieces of 8 bytes, and spills them.
using Vector16 [[gnu::vector_size(16)]] = uint64_t;
using Vector32 [[gnu::vector_size(32)]] = uint64_t;
using Vector64 [[gnu::vector_size(64)]] = uint64_t;

constexpr int kBytes = 16 << 10;  // a first cache holds them beside what else is in use
constexpr int kPasses = 100;
constexpr int kTakes = 40;  // the fastest counts: most are undisturbed

// The compiler may neither foresee the bytes nor leave a pass out.
inline void touch(void *bytes) {
    asm volatile("" : : "r"(bytes) : "memory");
}

// Eight sums, so that none waits for another.
template <typename Vector>
[[gnu::always_inline]] inline void load_all(void *bytes) {
    constexpr int kVectors = kBytes / sizeof(Vector);
    constexpr int kSums = 8;
    auto *vectors = static_cast<Vector *>(bytes);
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

template <typename Vector>
[[gnu::always_inline]] inline void store_all(void *bytes) {
    constexpr int kVectors = kBytes / sizeof(Vector);
    auto *vectors = static_cast<Vector *>(bytes);
    Vector stored = vectors[0];
    for (int pass = 0; pass < kPasses; pass++) {
#pragma GCC unroll 8
        for (int i = 0; i < kVectors; i++) {
            vectors[i] = stored;
        }
        touch(vectors);
    }
}

using Move = void (*)(void *bytes);

struct Moves {
    Move load;
    Move store;
};

#if defined(__x86_64__)
[[gnu::target("avx512f")]] void load_avx512(void *bytes) {
    load_all<Vector64>(bytes);
}
[[gnu::target("avx512f")]] void store_avx512(void *bytes) {
    store_all<Vector64>(bytes);
}
[[gnu::target("avx2")]] void load_avx2(void *bytes) {
    load_all<Vector32>(bytes);
}
[[gnu::target("avx2")]] void store_avx2(void *bytes) {
    store_all<Vector32>(bytes);
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
    return {load_all<Vector16>, store_all<Vector16>};
}

double bytes_per_nanosecond(Move move, void *bytes) {
    using Clock = std::chrono::steady_clock;
    double most = 0;
    for (int take = 0; take < kTakes; take++) {
        const Clock::time_point start = Clock::now();
        move(bytes);
        const std::chrono::duration<double, std::nano> time = Clock::now() - start;
        most = std::max(most, double{kPasses} * kBytes / time.count());
    }
    return most;
}

}  // namespace

CoreLimits measure_core_limits() {
    alignas(4096) std::byte bytes[kBytes] = {};
    const Moves moves = widest_moves();
    return {bytes_per_nanosecond(moves.load, bytes), bytes_per_nanosecond(moves.store, bytes)};
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
