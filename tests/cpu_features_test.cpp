#include "runtime/cpu_features.h"

#include <gtest/gtest.h>
#include <string>

#include "runtime/arm_features.h"
#include "runtime/x86_features.h"

namespace normforge {
namespace {

// The names, ordered as in the table and joined by blanks.
std::string names_of(uint64_t features) {
    std::string names;
    visit_cpu_features([&](const CpuFeature &feature) {
        if (features & feature.bit) {
            names += names.empty() ? feature.name : std::string(" ") + feature.name;
        }
    });
    return names;
}

constexpr uint32_t kAll = UINT32_MAX;

X86Words everything() {
    return {kAll, kAll, kAll, kAll, kAll, kAll, kAll};
}

TEST(CpuFeatures, TableHasABitForEachName) {
    uint64_t bits = 0;
    visit_cpu_features([&](const CpuFeature &feature) {
        EXPECT_EQ(bits & feature.bit, 0u) << feature.name;
        bits |= feature.bit;
    });
    uint64_t found = x86_features(everything());
    uint64_t x86_bits = 0;
    for (const CpuFeature &feature : kX86Features) {
        x86_bits |= feature.bit;
    }
    EXPECT_EQ(found, x86_bits);
    for (const CpuFeature &feature : kArmFeatures) {
        found |= arm_features({UINT64_MAX, UINT64_MAX, feature.vector_bits});
    }
    EXPECT_EQ(found, bits);
    EXPECT_EQ(x86_features({}), 0u);
    EXPECT_EQ(arm_features({}), 0u);
}

// A CPU that has everything but one instruction set or one state of registers.
struct Missing {
    const char *name;
    uint32_t X86Words::*word;
    int bit;
    std::string left;
};

class CpuWithout : public testing::TestWithParam<Missing> {};

TEST_P(CpuWithout, HasNoFeatureThatUsesIt) {
    X86Words words = everything();
    words.*GetParam().word &= ~(uint32_t{1} << GetParam().bit);
    EXPECT_EQ(names_of(x86_features(words)), GetParam().left);
}

const std::string kBelowAvx512 = "sse41 avx f16c fma avx2";
const std::string kBelowZen4 = kBelowAvx512 + " avx512 avx512_skylake avx512_cannonlake";

INSTANTIATE_TEST_SUITE_P(
    All, CpuWithout,
    testing::Values(Missing{"ssse3", &X86Words::leaf1_ecx, 9, ""},
                    Missing{"sse42", &X86Words::leaf1_ecx, 20, "sse41"},
                    Missing{"f16c", &X86Words::leaf1_ecx, 29, "sse41 avx fma"},
                    Missing{"fma", &X86Words::leaf1_ecx, 12, "sse41 avx f16c"},
                    Missing{"bmi2", &X86Words::leaf7_ebx, 8, "sse41 avx f16c fma"},
                    Missing{"lzcnt", &X86Words::extended_ecx, 5, "sse41 avx f16c fma"},
                    Missing{"avx512cd", &X86Words::leaf7_ebx, 28, kBelowAvx512},
                    Missing{"avx512vl", &X86Words::leaf7_ebx, 31, kBelowAvx512 + " avx512"},
                    Missing{"avx512vbmi", &X86Words::leaf7_ecx, 1, kBelowAvx512 + " avx512 avx512_skylake"},
                    Missing{"avx512bf16", &X86Words::leaf7_subleaf1_eax, 5, kBelowZen4},
                    Missing{"gfni", &X86Words::leaf7_ecx, 8, kBelowZen4},
                    Missing{"sse4a", &X86Words::extended_ecx, 6, kBelowZen4 + " avx512_sapphirerapids"},
                    Missing{"avxvnni", &X86Words::leaf7_subleaf1_eax, 4, kBelowZen4 + " avx512_zen4"},
                    Missing{"vp2intersect", &X86Words::leaf7_edx, 8,
                            kBelowZen4 + " avx512_zen4 avx512_sapphirerapids"},
                    Missing{"fp16", &X86Words::leaf7_edx, 23, kBelowZen4 + " avx512_zen4 avx512_zen5"},
                    Missing{"amx_tile", &X86Words::leaf7_edx, 24, kBelowZen4 + " avx512_zen4 avx512_zen5"},
                    Missing{"ymm_state", &X86Words::saved_state, 2, "sse41"},
                    Missing{"zmm_state", &X86Words::saved_state, 6, kBelowAvx512},
                    Missing{"tile_state", &X86Words::saved_state, 18, kBelowZen4 + " avx512_zen4 avx512_zen5"}),
    [](const auto &test) { return std::string(test.param.name); });

// ARM CPUs by what Linux says of them: bits of HWCAP and HWCAP2, and the length of the registers.
struct ArmCpu {
    const char *name;
    ArmWords words;
    std::string features;
};

class ArmCpus : public testing::TestWithParam<ArmCpu> {};

TEST_P(ArmCpus, HaveTheFeaturesOfTheirInstructions) {
    EXPECT_EQ(names_of(arm_features(GetParam().words)), GetParam().features);
}

constexpr uint64_t kAsimd = 1u << 1, kHalf = 1u << 9 | 1u << 10, kSve = 1u << 22;
constexpr uint64_t kSve2 = 1u << 1, kSveBf16 = 1u << 12, kBf16 = 1u << 14;

INSTANTIATE_TEST_SUITE_P(
    All, ArmCpus,
    testing::Values(ArmCpu{"nothing", {}, ""}, ArmCpu{"neon", {kAsimd, 0, 0}, "neon"},
                    ArmCpu{"scalar_half_alone", {kAsimd | 1u << 9, 0, 0}, "neon"},
                    ArmCpu{"half", {kAsimd | kHalf, 0, 0}, "neon arm_fp16"},
                    ArmCpu{"bf16", {kAsimd | kHalf, kBf16, 0}, "neon arm_fp16 armv86a"},
                    ArmCpu{"sve_512", {kAsimd | kHalf | kSve, 0, 512}, "neon arm_fp16 sve vector_bits_512"},
                    ArmCpu{"sve_bf16_256",
                           {kAsimd | kHalf | kSve, kBf16 | kSveBf16, 256},
                           "neon arm_fp16 armv86a sve vector_bits_256"},
                    ArmCpu{"sve2_128",
                           {kAsimd | kHalf | kSve, kSve2 | kBf16 | kSveBf16, 128},
                           "neon arm_fp16 armv86a sve sve2 vector_bits_128"},
                    ArmCpu{"other_length", {kAsimd | kHalf | kSve, kSve2, 384}, "neon arm_fp16 sve sve2"},
                    ArmCpu{"sve_without_half", {kAsimd | kSve, kSve2, 128}, "neon"},
                    ArmCpu{"bf16_without_that_of_sve",
                           {kAsimd | kHalf | kSve, kBf16, 256},
                           "neon arm_fp16 sve vector_bits_256"}),
    [](const auto &test) { return std::string(test.param.name); });

#if defined(__x86_64__)
// The compiler's own detection, which asks the operating system too.
TEST(CpuFeatures, ThisCpuAgreesWithTheCompiler) {
    __builtin_cpu_init();
    const bool sse41 = __builtin_cpu_supports("sse4.1");
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                      __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    const bool skylake = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
                         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
                         __builtin_cpu_supports("avx512dq");
    const std::string names = " " + names_of(cpu_features()) + " ";
    EXPECT_EQ(names.find(" sse41 ") != std::string::npos, sse41) << names;
    EXPECT_EQ(names.find(" avx2 ") != std::string::npos, avx2) << names;
    EXPECT_EQ(names.find(" avx512_skylake ") != std::string::npos, skylake) << names;
}
#endif

TEST(CpuFeatures, SecondAnswerIsTheFirst) {
    const uint64_t first = cpu_features();
    EXPECT_EQ(cpu_features(), first);
#if defined(__x86_64__)
    EXPECT_EQ(first & ~x86_features(everything()), 0u);
#else
    uint64_t unknown = first;
    visit_cpu_features([&](const CpuFeature &feature) { unknown &= ~feature.bit; });
    EXPECT_EQ(unknown, 0u);
#endif
}

}  // namespace
}  // namespace normforge
