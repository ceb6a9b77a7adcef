#include "runtime/arm_features.h"

#include <iterator>

#include "runtime/cpu_features.h"

namespace normforge {

namespace {

constexpr uint64_t bit(int position) {
    return uint64_t{1} << position;
}

// Linux, arch/arm64/include/uapi/asm/hwcap.h, whose numbers never change. Written out, since other machines build
// this file too.
constexpr uint64_t kAsimd = bit(1);
constexpr uint64_t kScalarHalf = bit(9);
constexpr uint64_t kVectorHalf = bit(10);
constexpr uint64_t kSve = bit(22);
constexpr uint64_t kSve2 = bit(1);  // this and the next are of hwcap2
constexpr uint64_t kSveBf16 = bit(12);
constexpr uint64_t kBf16 = bit(14);

constexpr bool has_all(uint64_t word, uint64_t bits) {
    return (word & bits) == bits;
}

struct Need {
    uint64_t feature;
    uint64_t hwcap;
    uint64_t hwcap2 = 0;
    int64_t sve_bits = 0;  // exactly, if not 0
};

// SVE has arithmetic on f16, and LLVM counts on it.
constexpr uint64_t kForSve = kAsimd | kScalarHalf | kVectorHalf | kSve;
constexpr Need kNeeds[] = {
    {feature_bit("neon"), kAsimd},
    {feature_bit("arm_fp16"), kAsimd | kScalarHalf | kVectorHalf},
    {feature_bit("armv86a"), kAsimd, kBf16},
    {feature_bit("sve"), kForSve},
    {feature_bit("sve2"), kForSve, kSve2},
    {feature_bit("vector_bits_128"), kForSve, 0, 128},
    {feature_bit("vector_bits_256"), kForSve, 0, 256},
    {feature_bit("vector_bits_512"), kForSve, 0, 512},
};
static_assert(std::size(kNeeds) == std::size(kArmFeatures));

}  // namespace

bool has_sve(uint64_t hwcap) {
    return has_all(hwcap, kForSve);
}

uint64_t arm_features(const ArmWords &words) {
    uint64_t features = 0;
    for (const Need &need : kNeeds) {
        if (has_all(words.hwcap, need.hwcap) && has_all(words.hwcap2, need.hwcap2) &&
            (need.sve_bits == 0 || need.sve_bits == words.sve_bits)) {
            features |= need.feature;
        }
    }
    // A kernel with both rounds to bf16 by SVE's own instruction.
    if (has_sve(words.hwcap) && !has_all(words.hwcap2, kSveBf16)) {
        features &= ~feature_bit("armv86a");
    }
    return features;
}

}  // namespace normforge
