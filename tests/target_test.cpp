#include "schedules/target.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cpu_features.h"
#include "runtime/user_error.h"
#include "schedules/gpu_knobs.h"

namespace normforge {
namespace {

using Halide::Target;

uint64_t bits_of(const std::vector<std::string> &names) {
    uint64_t bits = 0;
    visit_cpu_features([&](const CpuFeature &feature) {
        for (const std::string &name : names) {
            bits |= name == feature.name ? feature.bit : 0;
        }
    });
    return bits;
}

// The message of the UserError that the name causes; empty if it is a target.
std::string refusal(const std::string &name) {
    try {
        kernel_target(name);
        return "";
    } catch (const UserError &error) {
        return error.what();
    }
}

TEST(KernelTarget, HostRunsHere) {
    const Target host = kernel_target("host");
    EXPECT_EQ(needed_cpu_features(host) & ~cpu_features(), 0u);
    EXPECT_EQ(needed_cpu_features(host) & bits_of({"sse41", "avx2", "avx512"}),
              cpu_features() & bits_of({"sse41", "avx2", "avx512"}));
}

TEST(KernelTarget, CudaIsForGpus) {
    const Target cuda = kernel_target(kCudaTarget);
    EXPECT_TRUE(is_cuda(cuda));
    EXPECT_EQ(target_name(cuda), kCudaTarget);
    EXPECT_FALSE(is_cuda(kernel_target("x86-64-linux")));
}

class NamedTarget : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(
    All, NamedTarget,
    testing::Values("host", "x86-64-linux", "x86-64-linux-sse41", "x86-64-linux-avx-avx2-f16c-fma-sse41",
                    "x86-64-linux-tune_znver4-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41", "arm-64-linux",
                    "arm-64-linux-arm_fp16", "arm-64-linux-armv86a", "arm-64-linux-sve-vector_bits_128",
                    "arm-64-linux-armv86a-sve2-vector_bits_256", "arm-64-linux-sve2-vector_bits_512"));

TEST_P(NamedTarget, HasWhatEveryKernelIsBuiltWith) {
    const Target target = kernel_target(GetParam());
    for (Target::Feature feature :
         {Target::StrictFloat, Target::NoRuntime, Target::NoAsserts, Target::NoBoundsQuery}) {
        EXPECT_TRUE(target.has_feature(feature)) << Target::feature_to_name(feature);
    }
}

TEST_P(NamedTarget, IsGivenAgainByItsName) {
    const Target target = kernel_target(GetParam());
    const std::string name = target_name(target);
    EXPECT_EQ(kernel_target(name), target) << name;
    EXPECT_EQ(name.find("strict_float"), std::string::npos) << name;
    EXPECT_EQ(name.find("no_"), std::string::npos) << name;
    if (GetParam() != "host") {
        EXPECT_EQ(name, GetParam());
    }
}

// As users copy them from Halide's own output.
TEST(KernelTarget, TakesTheFeaturesThatItAddsAnyway) {
    EXPECT_EQ(kernel_target("x86-64-linux-sse41-strict_float-no_runtime-no_asserts-no_bounds_query"),
              kernel_target("x86-64-linux-sse41"));
}

TEST(KernelTarget, HasShortFormsForArm) {
    for (const auto &[shorter, longer] : std::initializer_list<std::pair<const char *, const char *>>{
             {"arm-64-linux-neon", "arm-64-linux"},
             {"arm-64-linux-neon-armv86a", "arm-64-linux-armv86a"},
             {"arm-64-linux-sve2-256", "arm-64-linux-sve2-vector_bits_256"},
             {"arm-64-linux-128-sve", "arm-64-linux-sve-vector_bits_128"}}) {
        EXPECT_EQ(target_name(kernel_target(shorter)), longer);
    }
}

struct Refused {
    const char *label;
    const char *name;
    std::vector<const char *> parts;  // of the message
};

class RefusedTarget : public testing::TestWithParam<Refused> {};

TEST_P(RefusedTarget, IsNamedWithWhatIsAllowed) {
    const std::string message = refusal(GetParam().name);
    EXPECT_NE(message.find("'" + std::string(GetParam().name) + "'"), std::string::npos) << message;
    for (const char *part : GetParam().parts) {
        EXPECT_NE(message.find(part), std::string::npos) << message;
    }
}

INSTANTIATE_TEST_SUITE_P(
    All, RefusedTarget,
    testing::Values(Refused{"empty", "", {"unknown target", "host"}},
                    Refused{"word", "toaster", {"unknown target", "host", "x86-64-linux-avx2"}},
                    Refused{"unknown_feature", "x86-64-linux-avx3", {"unknown target"}},
                    Refused{"arm_bits_32", "arm-32-linux", {"no schedules yet", "arm-64-linux"}},
                    Refused{"arm_android", "arm-64-android", {"no schedules yet", "arm-64-linux"}},
                    Refused{"sve_without_length", "arm-64-linux-sve", {"length", "vector_bits_256"}},
                    Refused{"sve2_without_length", "arm-64-linux-sve2", {"length", "vector_bits_256"}},
                    Refused{"wrong_length", "arm-64-linux-sve2-384", {"length", "vector_bits_256"}},
                    Refused{"long_length", "arm-64-linux-sve2-vector_bits_1024", {"length", "vector_bits_256"}},
                    Refused{"length_of_neon", "arm-64-linux-neon-256", {"vector_bits is for sve"}},
                    Refused{"length_of_x86", "x86-64-linux-avx2-vector_bits_256", {"vector_bits is for sve"}},
                    Refused{"arm_dot_products", "arm-64-linux-arm_dot_prod", {"not supported", "armv86a, sve"}},
                    Refused{"arm_with_avx", "arm-64-linux-avx2", {"is none", "avx2"}},
                    Refused{"x86_with_sve", "x86-64-linux-sve2-vector_bits_256", {"is none", "sve2"}},
                    Refused{"bits_32", "x86-32-linux-sse41", {"no schedules yet", "x86-64-linux"}},
                    Refused{"windows", "x86-64-windows-avx", {"no schedules yet", "x86-64-linux"}},
                    Refused{"gpu", "x86-64-linux-cuda", {"no schedules yet", "x86-64-linux"}},
                    Refused{"not_detected", "x86-64-linux-fma4", {"feature fma4 is not supported", "sse41, avx"}},
                    Refused{"sanitizer", "x86-64-linux-msan", {"feature msan is not supported", "avx512_zen5"}}),
    [](const auto &test) { return std::string(test.param.label); });

TEST(NeededCpuFeatures, AreThoseOfTheName) {
    EXPECT_EQ(needed_cpu_features(kernel_target("x86-64-linux")), 0u);
    for (const CpuFeature &feature : kX86Features) {
        const std::string name = std::string("x86-64-linux-") + feature.name;
        EXPECT_EQ(needed_cpu_features(kernel_target(name)), feature.bit) << name;
    }
    EXPECT_EQ(needed_cpu_features(kernel_target("x86-64-linux-avx2-fma-f16c-avx-sse41")),
              bits_of({"avx2", "fma", "f16c", "avx", "sse41"}));
}

// The baseline too, so that no other CPU counts as one that runs it.
TEST(NeededCpuFeatures, OfArmAreTheBaselineAndThoseOfTheName) {
    for (const auto &[name, features] : std::initializer_list<std::pair<const char *, std::vector<std::string>>>{
             {"arm-64-linux", {"neon"}},
             {"arm-64-linux-arm_fp16", {"neon", "arm_fp16"}},
             {"arm-64-linux-armv86a", {"neon", "armv86a"}},
             {"arm-64-linux-sve-128", {"neon", "sve", "vector_bits_128"}},
             {"arm-64-linux-armv86a-sve2-512", {"neon", "armv86a", "sve2", "vector_bits_512"}}}) {
        EXPECT_EQ(needed_cpu_features(kernel_target(name)), bits_of(features)) << name;
    }
}

struct Lowered {
    const char *name;
    const char *lowered;  // the Halide target
    const char *machine;  // features of LLVM
};

class LoweringTarget : public testing::TestWithParam<Lowered> {};

// As wide as the target, and without what LLVM adds.
TEST_P(LoweringTarget, HasTheTargetsVectors) {
    const Target target = kernel_target(GetParam().name);
    const Target lowered = lowering_target(target);
    EXPECT_EQ(target_name(lowered), GetParam().lowered);
    EXPECT_EQ(vector_bits(lowered), vector_bits(target));
    EXPECT_EQ(machine_features(target), GetParam().machine);
    EXPECT_TRUE(lowered.has_feature(Target::StrictFloat));
}

INSTANTIATE_TEST_SUITE_P(
    All, LoweringTarget,
    testing::Values(Lowered{"x86-64-linux-avx2", "x86-64-linux-avx2", ""},
                    Lowered{"arm-64-linux", "arm-64-linux-arm_fp16", ""},
                    Lowered{"arm-64-linux-arm_fp16-armv86a", "arm-64-linux-arm_fp16", "+fullfp16,+bf16"},
                    Lowered{"arm-64-linux-sve2-128", "arm-64-linux-arm_fp16", "+sve2"},
                    Lowered{"arm-64-linux-sve-256", "x86-64-linux-avx-avx2-f16c-sse41-vector_bits_256", "+sve"},
                    Lowered{"arm-64-linux-armv86a-sve2-512",
                            "x86-64-linux-avx-avx2-avx512_skylake-f16c-sse41-vector_bits_512", "+bf16,+sve2"}),
    [](const auto &test) {
        std::string name = test.param.name;
        std::ranges::replace(name, '-', '_');
        return name;
    });

struct Abilities {
    const char *label;
    const char *name;
    std::vector<bool (*)(const Halide::Target &)> expected;
};

class TargetAbilities : public testing::TestWithParam<Abilities> {};

TEST_P(TargetAbilities, FollowTheFeatures) {
    const Halide::Target target = kernel_target(GetParam().name);
    const std::vector<bool (*)(const Halide::Target &)> &expected = GetParam().expected;
    for (const auto ability : {converts_f16, rounds_bfloats, has_fma, shuffles_bytes, permutes_words,
                               stores_narrowed, permutes_words_at_once, widens_by_halves, sums_word_pairs}) {
        EXPECT_EQ(ability(target), std::ranges::find(expected, ability) != expected.end());
    }
}

INSTANTIATE_TEST_SUITE_P(
    All, TargetAbilities,
    testing::Values(
        Abilities{"baseline", "x86-64-linux", {}}, Abilities{"neon", "arm-64-linux", {converts_f16, has_fma}},
        Abilities{"arm_bf16", "arm-64-linux-armv86a-sve2-256", {converts_f16, has_fma, rounds_bfloats}},
        Abilities{"avx2", "x86-64-linux-avx2-fma-f16c-avx-sse41", {converts_f16, has_fma, shuffles_bytes}},
        Abilities{"avx512", "x86-64-linux-avx512", {shuffles_bytes, stores_narrowed}},
        Abilities{"skylake", "x86-64-linux-avx512_skylake", {shuffles_bytes, permutes_words, stores_narrowed}},
        Abilities{
            "cannonlake", "x86-64-linux-avx512_cannonlake", {shuffles_bytes, permutes_words, stores_narrowed}},
        Abilities{"sapphirerapids",
                  "x86-64-linux-avx512_sapphirerapids",
                  {rounds_bfloats, shuffles_bytes, permutes_words, stores_narrowed, sums_word_pairs}},
        Abilities{"zen4",
                  "x86-64-linux-avx512_zen4",
                  {rounds_bfloats, shuffles_bytes, permutes_words, stores_narrowed, permutes_words_at_once,
                   widens_by_halves}},
        Abilities{"zen5",
                  "x86-64-linux-avx512_zen5",
                  {rounds_bfloats, shuffles_bytes, permutes_words, stores_narrowed, permutes_words_at_once,
                   widens_by_halves}}),
    [](const auto &test) { return std::string(test.param.label); });

}  // namespace
}  // namespace normforge
