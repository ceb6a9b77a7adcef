#pragma once

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace normforge {

// Instruction sets that a kernel can need, by the names of Halide's target features.
struct CpuFeature {
    const char *name;
    uint64_t bit;
};

inline constexpr CpuFeature kCpuFeatures[] = {
    {"sse41", 1u << 0},          {"avx", 1u << 1},
    {"f16c", 1u << 2},           {"fma", 1u << 3},
    {"avx2", 1u << 4},           {"avx512", 1u << 5},
    {"avx512_skylake", 1u << 6}, {"avx512_cannonlake", 1u << 7},
    {"avx512_zen4", 1u << 8},    {"avx512_sapphirerapids", 1u << 9},
    {"avx512_zen5", 1u << 10},
};

consteval uint64_t feature_bit(std::string_view name) {
    for (const CpuFeature &feature : kCpuFeatures) {
        if (feature.name == name) {
            return feature.bit;
        }
    }
    std::abort();  // not a constant, so a name that the table lacks does not compile
}

// The features of this CPU that its operating system lets programs use.
uint64_t cpu_features();

}  // namespace normforge
