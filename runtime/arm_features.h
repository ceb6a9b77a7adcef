#pragma once

#include <cstdint>

namespace normforge {

// What Linux says of a 64-bit ARM CPU.
struct ArmWords {
    uint64_t hwcap = 0;    // of getauxval
    uint64_t hwcap2 = 0;   // of getauxval
    int64_t sve_bits = 0;  // length of the SVE registers in this thread; 0 without SVE
};

// Whether the CPU has SVE, so that there is a length to ask for.
bool has_sve(uint64_t hwcap);

// The bits of kArmFeatures that such a CPU has. A pure function: tests ask it of CPUs not at hand.
uint64_t arm_features(const ArmWords &words);

}  // namespace normforge
