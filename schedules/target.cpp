#include "schedules/target.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

#include "runtime/cpu_features.h"
#include "runtime/user_error.h"
#include "schedules/gpu_knobs.h"

namespace normforge {

using Halide::Target;

namespace {

constexpr Target::Feature kKernelFeatures[] = {Target::StrictFloat, Target::NoRuntime, Target::NoAsserts,
                                               Target::NoBoundsQuery};
constexpr std::string_view kArmBaseline = "neon";
constexpr int kSveLengths[] = {128, 256, 512};

bool has_any(const Target &target, std::initializer_list<Target::Feature> features) {
    return std::ranges::any_of(features, [&](Target::Feature each) { return target.has_feature(each); });
}

bool has_avx512_of_zen(const Target &target) {
    return has_any(target, {Target::AVX512_Zen4, Target::AVX512_Zen5});
}

bool has_sve(const Target &target) {
    return has_any(target, {Target::SVE, Target::SVE2});
}

std::span<const CpuFeature> features_of(Target::Arch arch) {
    if (arch == Target::ARM) {
        return kArmFeatures;
    }
    return kX86Features;
}

// Of Halide's features; the baseline of ARM and a length of registers are none.
bool is_halide_feature(const CpuFeature &feature) {
    return feature.vector_bits == 0 && std::string_view(feature.name) != kArmBaseline;
}

Target::Feature halide_feature(const CpuFeature &feature) {
    return Target::feature_from_name(feature.name);
}

bool needs(const Target &target, const CpuFeature &feature) {
    if (is_halide_feature(feature)) {
        return target.has_feature(halide_feature(feature));
    }
    return feature.vector_bits == 0 || feature.vector_bits == target.vector_bits;
}

std::string known_features(Target::Arch arch) {
    std::string names;
    for (const CpuFeature &feature : features_of(arch)) {
        names += (names.empty() ? "" : ", ") + std::string(feature.name);
    }
    return names;
}

bool is_known(Target::Feature feature, Target::Arch arch) {
    return std::ranges::find(kKernelFeatures, feature) != std::end(kKernelFeatures) ||
           std::ranges::any_of(features_of(arch), [&](const CpuFeature &known) {
               return is_halide_feature(known) && halide_feature(known) == feature;
           });
}

// This machine, with the instruction sets that the runtime would find here too.
Target host_target() {
    Target detected = Halide::get_host_target();
    Target host(detected.os, detected.arch, detected.bits, detected.processor_tune);
    uint64_t usable = cpu_features();
    for (const CpuFeature &feature : features_of(host.arch)) {
        if (!(usable & feature.bit)) {
            continue;
        }
        if (feature.vector_bits != 0) {
            host.vector_bits = feature.vector_bits;
        } else if (is_halide_feature(feature) && detected.has_feature(halide_feature(feature))) {
            host.set_feature(halide_feature(feature));
        }
    }
    if (!has_sve(host)) {
        host.vector_bits = 0;
    }
    return host;
}

// Of arm-64-linux-neon and arm-64-linux-sve2-256, as Halide writes them.
std::string halide_name(const std::string &name) {
    if (!name.starts_with("arm-")) {
        return name;
    }
    std::string result;
    for (size_t begin = 0; begin <= name.size();) {
        const size_t end = std::min(name.find('-', begin), name.size());
        const std::string part = name.substr(begin, end - begin);
        const bool is_length = result.find("-linux") != std::string::npos && !part.empty() &&
                               std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
        if (part != kArmBaseline) {
            result += (result.empty() ? "" : "-") + std::string(is_length ? "vector_bits_" : "") + part;
        }
        begin = end + 1;
    }
    return result;
}

// Which Halide refuses where features do not belong to the architecture.
Target named_target(const std::string &name, const std::string &full_name) {
    try {
        return Target(full_name);
    } catch (const Halide::Error &error) {  // which is no std::exception
        throw UserError("target '" + name + "' is none: " + error.what());
    }
}

void check_vector_bits(const Target &target, const std::string &name) {
    const std::string where = "target '" + name + "': ";
    if (!has_sve(target) && target.vector_bits != 0) {
        throw UserError(where + "vector_bits is for sve and sve2 on ARM; allowed is none here");
    }
    if (has_sve(target) && std::ranges::find(kSveLengths, target.vector_bits) == std::end(kSveLengths)) {
        throw UserError(where + "sve and sve2 need the length of the registers, in bits; allowed are " +
                        "vector_bits_128, vector_bits_256 and vector_bits_512, or short 128, 256 and 512");
    }
}

// Halide has no feature for newer GPUs; they take PTX for older ones.
Target cuda_target() {
    Target target(Target::Linux, Target::X86, 64, {Target::CUDA, Target::CUDACapability80});
    target.set_features({std::begin(kKernelFeatures), std::end(kKernelFeatures)});
    return target;
}

}  // namespace

Target kernel_target(const std::string &name) {
    if (name == kCudaTarget) {
        return cuda_target();
    }
    const std::string full_name = halide_name(name);
    if (name != "host" && !Target::validate_target_string(full_name)) {
        throw UserError("unknown target '" + name + "'; allowed are host and Halide's targets, such as " +
                        "x86-64-linux-avx2-fma-f16c-avx-sse41 and arm-64-linux-sve2-256");
    }
    Target target = name == "host" ? host_target() : named_target(name, full_name);
    const bool known_arch = target.arch == Target::X86 || target.arch == Target::ARM;
    if (!known_arch || target.bits != 64 || target.os != Target::Linux || target.has_gpu_feature()) {
        throw UserError("target '" + name +
                        "' has no schedules yet; allowed are x86-64-linux and arm-64-linux with their features");
    }
    for (int index = 0; index < Target::FeatureEnd; index++) {
        const auto feature = static_cast<Target::Feature>(index);
        // The runtime could not tell whether a CPU has it.
        if (target.has_feature(feature) && !is_known(feature, target.arch)) {
            throw UserError("target '" + name + "': feature " + Target::feature_to_name(feature) +
                            " is not supported; allowed are " + known_features(target.arch));
        }
    }
    check_vector_bits(target, name);
    for (Target::Feature feature : kKernelFeatures) {
        target.set_feature(feature);
    }
    return target;
}

std::string target_name(const Target &target) {
    if (is_cuda(target)) {
        return kCudaTarget;
    }
    Target shown = target;
    for (Target::Feature feature : kKernelFeatures) {
        shown.set_feature(feature, false);
    }
    return shown.to_string();
}

bool is_cuda(const Target &target) {
    return target.has_feature(Target::CUDA);
}

uint64_t needed_cpu_features(const Target &target) {
    uint64_t bits = 0;
    for (const CpuFeature &feature : features_of(target.arch)) {
        if (needs(target, feature)) {
            bits |= feature.bit;
        }
    }
    return bits;
}

Target lowering_target(const Target &target) {
    if (!is_arm(target)) {
        return target;
    }
    const bool is_wide = target.vector_bits > 128;
    Target lowered(target.os, is_wide ? Target::X86 : Target::ARM, target.bits, Target::ProcessorGeneric,
                   {std::begin(kKernelFeatures), std::end(kKernelFeatures)});
    if (!is_wide) {
        lowered.set_feature(Target::ARMFp16);
    } else {
        lowered.set_features({Target::SSE41, Target::AVX, Target::F16C, Target::AVX2});
        lowered.set_feature(Target::AVX512_Skylake, target.vector_bits == 512);
        lowered.vector_bits = target.vector_bits;  // tells it from x86's own: see lowers_for_arm
    }
    return lowered;
}

bool lowers_for_arm(const Target &target) {
    return is_arm(target) || target.vector_bits != 0;
}

std::string machine_features(const Target &target) {
    std::string features;
    constexpr std::pair<Target::Feature, const char *> kNames[] = {{Target::ARMFp16, "+fullfp16"},
                                                                   {Target::ARMv86a, "+bf16"},
                                                                   {Target::SVE, "+sve"},
                                                                   {Target::SVE2, "+sve2"}};
    for (const auto &[feature, name] : kNames) {
        if (target.has_feature(feature)) {
            features += (features.empty() ? "" : ",") + std::string(name);
        }
    }
    return features;
}

int vector_bits(const Target &target) {
    return target.vector_bits != 0 ? target.vector_bits : 32 * target.natural_vector_size(Halide::Float(32));
}

bool is_arm(const Target &target) {
    return target.arch == Target::ARM;
}

bool converts_f16(const Target &target) {
    return target.has_feature(Target::F16C) || is_arm(target) || target.has_feature(Target::CUDA);
}

bool rounds_bfloats(const Target &target) {
    return has_any(target,
                   {Target::AVX512_Zen4, Target::AVX512_Zen5, Target::AVX512_SapphireRapids, Target::ARMv86a});
}

bool has_fma(const Target &target) {
    return target.has_feature(Target::FMA) || is_arm(target);
}

bool shuffles_bytes(const Target &target) {
    return stores_narrowed(target) || target.has_feature(Target::AVX2);
}

bool permutes_words(const Target &target) {
    return !is_arm(target) &&
           (rounds_bfloats(target) || has_any(target, {Target::AVX512_Skylake, Target::AVX512_Cannonlake}));
}

bool stores_narrowed(const Target &target) {
    return permutes_words(target) || target.has_feature(Target::AVX512);
}

bool is_for_zen(const Target &target) {
    constexpr Target::Processor kZen[] = {Target::ZnVer1, Target::ZnVer2, Target::ZnVer3, Target::ZnVer4,
                                          Target::ZnVer5};
    return has_avx512_of_zen(target) || std::ranges::find(kZen, target.processor_tune) != std::end(kZen);
}

bool is_for_intel_server(const Target &target) {
    return target.has_feature(Target::AVX512_SapphireRapids);
}

bool sums_word_pairs(const Target &target) {
    return is_for_intel_server(target);
}

bool widens_by_halves(const Target &target) {
    return has_avx512_of_zen(target);
}

bool permutes_words_at_once(const Target &target) {
    return has_avx512_of_zen(target);
}

}  // namespace normforge
