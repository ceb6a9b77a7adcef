#include "schedules/target.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>

#include "runtime/cpu_features.h"
#include "runtime/user_error.h"

namespace normforge {

using Halide::Target;

namespace {

constexpr Target::Feature kKernelFeatures[] = {Target::StrictFloat, Target::NoRuntime, Target::NoAsserts,
                                               Target::NoBoundsQuery};

Target::Feature halide_feature(const CpuFeature &feature) {
    return Target::feature_from_name(feature.name);
}

std::string known_features() {
    std::string names;
    for (const CpuFeature &feature : kCpuFeatures) {
        names += (names.empty() ? "" : ", ") + std::string(feature.name);
    }
    return names;
}

bool is_known(Target::Feature feature) {
    return std::ranges::find(kKernelFeatures, feature) != std::end(kKernelFeatures) ||
           std::ranges::find(kCpuFeatures, feature, halide_feature) != std::end(kCpuFeatures);
}

// This machine, with the instruction sets that the runtime would find here too.
Target host_target() {
    Target detected = Halide::get_host_target();
    Target host(detected.os, detected.arch, detected.bits, detected.processor_tune);
    uint64_t usable = cpu_features();
    for (const CpuFeature &feature : kCpuFeatures) {
        if ((usable & feature.bit) && detected.has_feature(halide_feature(feature))) {
            host.set_feature(halide_feature(feature));
        }
    }
    return host;
}

bool has_any(const Target &target, std::initializer_list<Target::Feature> features) {
    return std::ranges::any_of(features, [&](Target::Feature each) { return target.has_feature(each); });
}

}  // namespace

Target kernel_target(const std::string &name) {
    if (name != "host" && !Target::validate_target_string(name)) {
        throw UserError("unknown target '" + name + "'; allowed are host and Halide's targets, such as " +
                        "x86-64-linux-avx2-fma-f16c-avx-sse41");
    }
    Target target = name == "host" ? host_target() : Target(name);
    if (target.arch != Target::X86 || target.bits != 64 || target.os != Target::Linux ||
        target.has_gpu_feature()) {
        throw UserError("target '" + name + "' has no schedules yet; allowed are x86-64-linux with its features");
    }
    for (int index = 0; index < Target::FeatureEnd; index++) {
        const auto feature = static_cast<Target::Feature>(index);
        // The runtime could not tell whether a CPU has it.
        if (target.has_feature(feature) && !is_known(feature)) {
            throw UserError("target '" + name + "': feature " + Target::feature_to_name(feature) +
                            " is not supported; allowed are " + known_features());
        }
    }
    for (Target::Feature feature : kKernelFeatures) {
        target.set_feature(feature);
    }
    return target;
}

std::string target_name(const Target &target) {
    Target shown = target;
    for (Target::Feature feature : kKernelFeatures) {
        shown.set_feature(feature, false);
    }
    return shown.to_string();
}

uint64_t needed_cpu_features(const Target &target) {
    uint64_t bits = 0;
    for (const CpuFeature &feature : kCpuFeatures) {
        if (target.has_feature(halide_feature(feature))) {
            bits |= feature.bit;
        }
    }
    return bits;
}

bool converts_f16(const Target &target) {
    return target.has_feature(Target::F16C) || target.has_gpu_feature();
}

bool rounds_bfloats(const Target &target) {
    return has_any(target, {Target::AVX512_Zen4, Target::AVX512_Zen5, Target::AVX512_SapphireRapids});
}

bool has_fma(const Target &target) {
    return target.has_feature(Target::FMA);
}

bool shuffles_bytes(const Target &target) {
    return stores_narrowed(target) || target.has_feature(Target::AVX2);
}

bool permutes_words(const Target &target) {
    return rounds_bfloats(target) || has_any(target, {Target::AVX512_Skylake, Target::AVX512_Cannonlake});
}

bool stores_narrowed(const Target &target) {
    return permutes_words(target) || target.has_feature(Target::AVX512);
}

bool permutes_words_at_once(const Target &target) {
    return has_any(target, {Target::AVX512_Zen4, Target::AVX512_Zen5});
}

}  // namespace normforge
