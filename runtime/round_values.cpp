#include "runtime/round_values.h"

#include <bit>
#include <cstring>

#include "runtime/cpu_features.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace normforge {

namespace {

constexpr uint32_t kSign = 0x80000000;
constexpr uint32_t kInfinity = 0x7f800000;

// Without a branch, which would keep compilers from turning a loop into vectors.
constexpr uint32_t choose(bool condition, uint32_t one, uint32_t other) {
    const uint32_t mask = -static_cast<uint32_t>(condition);
    return (one & mask) | (other & ~mask);
}

// Of numbers without a sign bit. SSE2 compares none but signed ones.
constexpr bool is_above(uint32_t one, uint32_t other) {
    return static_cast<int32_t>(one) > static_cast<int32_t>(other);
}

// The bits below the last one that is kept decide with it: half and even stays, half and odd goes up. A carry out
// of the significand is the next exponent's first value.
constexpr uint32_t cut_to_nearest(uint32_t value, int bits) {
    return (value + ((1u << (bits - 1)) - 1) + ((value >> bits) & 1)) >> bits;
}

constexpr uint16_t bfloat_code(float value) {
    const auto bits = std::bit_cast<uint32_t>(value);
    const uint32_t nan = bits >> 16 | 0x40;
    return static_cast<uint16_t>(choose(is_above(bits & ~kSign, kInfinity), nan, cut_to_nearest(bits, 16)));
}

constexpr uint16_t half_code(float value) {
    constexpr uint32_t kSmallestNormal = 113u << 23;
    constexpr uint32_t kBeyondAll = 143u << 23;
    constexpr uint32_t kRebias = 112u << 23;
    const auto bits = std::bit_cast<uint32_t>(value);
    const uint32_t magnitude = bits & ~kSign;
    // The last place of an f32 near 0.5 is the smallest f16.
    const uint32_t subnormal =
        std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - std::bit_cast<uint32_t>(0.5f);
    const uint32_t normal = cut_to_nearest(magnitude, 13) - (kRebias >> 13);
    const uint32_t nan = 0x7e00 | (magnitude >> 13 & 0x3ff);
    const uint32_t finite = choose(is_above(kSmallestNormal, magnitude), subnormal, normal);
    const uint32_t number = choose(is_above(kBeyondAll, magnitude), finite, 0x7c00);
    return static_cast<uint16_t>(choose(is_above(magnitude, kInfinity), nan, number) | (bits >> 16 & 0x8000));
}

// Inlined, so that it is compiled for the instructions of its caller.
template <uint16_t (*code_of)(float)>
[[gnu::always_inline]] inline void round_to_codes(void *rounded, const float *values, int64_t count) {
    constexpr int64_t kAtOnce = 16;  // a number that compilers turn into vectors at any level of optimisation
    uint16_t codes[kAtOnce];
    auto *bytes = static_cast<char *>(rounded);
    int64_t first = 0;
    for (; first + kAtOnce <= count; first += kAtOnce, bytes += sizeof codes) {
        for (int64_t index = 0; index < kAtOnce; index++) {
            codes[index] = code_of(values[first + index]);
        }
        std::memcpy(bytes, codes, sizeof codes);
    }
    for (; first < count; first++, bytes += sizeof codes[0]) {
        codes[0] = code_of(values[first]);
        std::memcpy(bytes, codes, sizeof codes[0]);
    }
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void round_to_bfloats_by_avx2(void *rounded, const float *values, int64_t count) {
    round_to_codes<bfloat_code>(rounded, values, count);
}

[[gnu::target("avx,f16c")]] void round_to_halves_by_f16c(void *rounded, const float *values, int64_t count) {
    constexpr int64_t kAtOnce = 8;
    auto *codes = static_cast<char *>(rounded);
    int64_t first = 0;
    for (; first + kAtOnce <= count; first += kAtOnce, codes += kAtOnce * sizeof(uint16_t)) {
        const __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(values + first), _MM_FROUND_TO_NEAREST_INT);
        _mm_storeu_si128(reinterpret_cast<__m128i *>(codes), halves);
    }
    round_to_codes<half_code>(codes, values + first, count - first);
}
#endif

void round_to_bfloats(void *rounded, const float *values, int64_t count) {
#if defined(__x86_64__)
    if (cpu_features() & feature_bit("avx2")) {
        return round_to_bfloats_by_avx2(rounded, values, count);
    }
#endif
    round_to_codes<bfloat_code>(rounded, values, count);
}

void round_to_halves(void *rounded, const float *values, int64_t count) {
#if defined(__x86_64__)
    if (cpu_features() & feature_bit("f16c")) {
        return round_to_halves_by_f16c(rounded, values, count);
    }
#endif
    round_to_codes<half_code>(rounded, values, count);
}

}  // namespace

void round_values(void *rounded, nf_dtype type, const float *values, int64_t count) {
    switch (type) {
    case NF_F32:
        std::memcpy(rounded, values, static_cast<size_t>(count) * sizeof *values);
        return;
    case NF_F16:
        return round_to_halves(rounded, values, count);
    case NF_BF16:
        return round_to_bfloats(rounded, values, count);
    case NF_NONE:
    case NF_I8:
    case NF_F8E4M3:
        __builtin_trap();
    }
}

}  // namespace normforge
