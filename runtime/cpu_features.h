#pragma once

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace normforge {

// What a kernel can need of a CPU: instruction sets, by the names of Halide's target features, and on ARM
// registers of exactly the length that it was compiled for. No bit belongs to two CPUs' features.
struct CpuFeature {
    const char *name;
    uint64_t bit;
    int vector_bits = 0;  // of the registers, where it is their length
};

// Newer ones have higher bits: see kernel_table.h.
inline constexpr CpuFeature kX86Features[] = {
    {"sse41", 1u << 0},          {"avx", 1u << 1},
    {"f16c", 1u << 2},           {"fma", 1u << 3},
    {"avx2", 1u << 4},           {"avx512", 1u << 5},
    {"avx512_skylake", 1u << 6}, {"avx512_cannonlake", 1u << 7},
    {"avx512_zen4", 1u << 8},    {"avx512_sapphirerapids", 1u << 9},
    {"avx512_zen5", 1u << 10},
};

constexpr uint64_t arm_bit(int place) {
    return uint64_t{1} << (32 + place);
}

// neon is the baseline, which every kernel needs, and no feature of Halide's. armv86a stands for the bf16
// conversions of Armv8.6-A alone, which earlier CPUs have too.
inline constexpr CpuFeature kArmFeatures[] = {
    {"neon", arm_bit(0)},
    {"arm_fp16", arm_bit(1)},
    {"armv86a", arm_bit(2)},
    {"sve", arm_bit(3)},
    {"sve2", arm_bit(4)},
    {"vector_bits_128", arm_bit(5), 128},
    {"vector_bits_256", arm_bit(6), 256},
    {"vector_bits_512", arm_bit(7), 512},
};

// Calls with each feature of each list, in their order.
template <typename Visitor>
constexpr void visit_cpu_features(Visitor &&visit) {
    for (const CpuFeature &feature : kX86Features) {
        visit(feature);
    }
    for (const CpuFeature &feature : kArmFeatures) {
        visit(feature);
    }
}

consteval uint64_t feature_bit(std::string_view name) {
    uint64_t bit = 0;
    visit_cpu_features([&](const CpuFeature &feature) { bit |= feature.name == name ? feature.bit : 0; });
    if (bit == 0) {
        std::abort();  // not a constant, so a name that the tables lack does not compile
    }
    return bit;
}

// The features of this CPU that its operating system lets programs use. A length of registers is that of the
// calling thread.
uint64_t cpu_features();

}  // namespace normforge
