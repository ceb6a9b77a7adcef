#pragma once

#include <cstdint>

#include "runtime/cpu_features.h"

namespace normforge {

// The length of registers, in bits, that a kernel of these features needs, or 0.
constexpr int needed_vector_bits(uint64_t features) {
    int bits = 0;
    for (const CpuFeature &feature : kArmFeatures) {
        bits += features & feature.bit ? feature.vector_bits : 0;
    }
    return bits;
}

#if defined(__aarch64__)

// Of the calling thread's SVE registers. Only on a CPU that has them.
inline int64_t sve_bits() {
    int64_t bytes = 0;
    asm volatile(".arch_extension sve\n\trdvl %0, #1" : "=r"(bytes));
    return 8 * bytes;
}

// Whether this thread still has registers of the length that a kernel needs which nf_find has given: a thread can
// change it, and the kernel would silently skip values or write too many.
inline bool has_vector_length(uint64_t needed_features) {
    const int bits = needed_vector_bits(needed_features);
    return bits == 0 || bits == sve_bits();
}

#else

constexpr bool has_vector_length(uint64_t) {
    return true;
}

#endif

}  // namespace normforge
