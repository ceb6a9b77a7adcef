#include "runtime/x86_features.h"

#include <iterator>

#include "runtime/cpu_features.h"

namespace normforge {

namespace {

constexpr X86Words operator|(const X86Words &a, const X86Words &b) {
    return {.leaf1_ecx = a.leaf1_ecx | b.leaf1_ecx,
            .leaf7_ebx = a.leaf7_ebx | b.leaf7_ebx,
            .leaf7_ecx = a.leaf7_ecx | b.leaf7_ecx,
            .leaf7_edx = a.leaf7_edx | b.leaf7_edx,
            .leaf7_subleaf1_eax = a.leaf7_subleaf1_eax | b.leaf7_subleaf1_eax,
            .extended_ecx = a.extended_ecx | b.extended_ecx,
            .saved_state = a.saved_state | b.saved_state};
}

constexpr uint32_t bit(int position) {
    return uint32_t{1} << position;
}

// Intel SDM, volume 2, CPUID, and volume 1, section 13.1 (XCR0); AMD APM, volume 3, appendix E.
constexpr X86Words kSse3{.leaf1_ecx = bit(0)};
constexpr X86Words kSsse3{.leaf1_ecx = bit(9)};
constexpr X86Words kFma{.leaf1_ecx = bit(12)};
constexpr X86Words kSse41{.leaf1_ecx = bit(19)};
constexpr X86Words kSse42{.leaf1_ecx = bit(20)};
constexpr X86Words kMovbe{.leaf1_ecx = bit(22)};
constexpr X86Words kPopcnt{.leaf1_ecx = bit(23)};
constexpr X86Words kAvx{.leaf1_ecx = bit(28)};
constexpr X86Words kF16c{.leaf1_ecx = bit(29)};
constexpr X86Words kBmi1{.leaf7_ebx = bit(3)};
constexpr X86Words kAvx2{.leaf7_ebx = bit(5)};
constexpr X86Words kBmi2{.leaf7_ebx = bit(8)};
constexpr X86Words kAvx512F{.leaf7_ebx = bit(16)};
constexpr X86Words kAvx512Dq{.leaf7_ebx = bit(17)};
constexpr X86Words kAvx512Ifma{.leaf7_ebx = bit(21)};
constexpr X86Words kAvx512Cd{.leaf7_ebx = bit(28)};
constexpr X86Words kAvx512Bw{.leaf7_ebx = bit(30)};
constexpr X86Words kAvx512Vl{.leaf7_ebx = bit(31)};
constexpr X86Words kAvx512Vbmi{.leaf7_ecx = bit(1)};
constexpr X86Words kAvx512Vbmi2{.leaf7_ecx = bit(6)};
constexpr X86Words kGfni{.leaf7_ecx = bit(8)};
constexpr X86Words kAvx512Vnni{.leaf7_ecx = bit(11)};
constexpr X86Words kAvx512Bitalg{.leaf7_ecx = bit(12)};
constexpr X86Words kAvx512Vpopcntdq{.leaf7_ecx = bit(14)};
constexpr X86Words kAvx512Vp2intersect{.leaf7_edx = bit(8)};
constexpr X86Words kAmxBf16{.leaf7_edx = bit(22)};
constexpr X86Words kAvx512Fp16{.leaf7_edx = bit(23)};
constexpr X86Words kAmxTile{.leaf7_edx = bit(24)};
constexpr X86Words kAmxInt8{.leaf7_edx = bit(25)};
constexpr X86Words kAvxVnni{.leaf7_subleaf1_eax = bit(4)};
constexpr X86Words kAvx512Bf16{.leaf7_subleaf1_eax = bit(5)};
constexpr X86Words kLzcnt{.extended_ecx = bit(5)};
constexpr X86Words kSse4a{.extended_ecx = bit(6)};
constexpr X86Words kYmmState{.saved_state = bit(1) | bit(2)};
constexpr X86Words kZmmState{.saved_state = bit(5) | bit(6) | bit(7)};
constexpr X86Words kTileState{.saved_state = bit(17) | bit(18)};

// With each feature Halide 21 also sets the CPU that LLVM compiles for (haswell with avx2, znver4 with
// avx512_zen4), and LLVM may use all that this CPU has. So a feature asks for every set that Halide names, and for
// every set of that CPU that LLVM picks unasked: BMI, LZCNT and MOVBE for scalars, GFNI for shifts of bytes, SSE4A
// (AMD only) for scalar stores past the cache. What only intrinsics reach, like AES and RDRAND, is not asked
// for: hypervisors hide it, and no norm has it.
constexpr X86Words kForSse41 = kSse3 | kSsse3 | kSse41;
constexpr X86Words kForAvx = kForSse41 | kSse42 | kPopcnt | kAvx | kYmmState;
constexpr X86Words kForF16c = kForAvx | kF16c;
constexpr X86Words kForFma = kForAvx | kFma;
constexpr X86Words kForAvx2 = kForF16c | kForFma | kAvx2 | kBmi1 | kBmi2 | kLzcnt | kMovbe;
constexpr X86Words kForAvx512 = kForAvx2 | kAvx512F | kAvx512Cd | kZmmState;
constexpr X86Words kForSkylake = kForAvx512 | kAvx512Vl | kAvx512Bw | kAvx512Dq;
constexpr X86Words kForCannonlake = kForSkylake | kAvx512Ifma | kAvx512Vbmi;
constexpr X86Words kForNewer =
    kForCannonlake | kAvx512Bf16 | kAvx512Vbmi2 | kAvx512Vnni | kAvx512Bitalg | kAvx512Vpopcntdq | kGfni;
constexpr X86Words kForZen4 = kForNewer | kSse4a;
constexpr X86Words kForZen5 = kForZen4 | kAvxVnni | kAvx512Vp2intersect;
constexpr X86Words kForSapphireRapids =
    kForNewer | kAvxVnni | kAvx512Fp16 | kAmxTile | kAmxInt8 | kAmxBf16 | kTileState;

struct Need {
    uint64_t feature;
    X86Words words;
};

constexpr Need kNeeds[] = {
    {feature_bit("sse41"), kForSse41},
    {feature_bit("avx"), kForAvx},
    {feature_bit("f16c"), kForF16c},
    {feature_bit("fma"), kForFma},
    {feature_bit("avx2"), kForAvx2},
    {feature_bit("avx512"), kForAvx512},
    {feature_bit("avx512_skylake"), kForSkylake},
    {feature_bit("avx512_cannonlake"), kForCannonlake},
    {feature_bit("avx512_zen4"), kForZen4},
    {feature_bit("avx512_sapphirerapids"), kForSapphireRapids},
    {feature_bit("avx512_zen5"), kForZen5},
};
static_assert(std::size(kNeeds) == std::size(kX86Features));

}  // namespace

uint64_t x86_features(const X86Words &words) {
    uint64_t features = 0;
    for (const Need &need : kNeeds) {
        if ((words | need.words) == words) {
            features |= need.feature;
        }
    }
    return features;
}

}  // namespace normforge
