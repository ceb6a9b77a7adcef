#include "autotune/model/known_cpus.h"

#include <algorithm>

#include "generators/codegen.h"
#include "runtime/user_error.h"

namespace normforge {

namespace {

constexpr int64_t operator""_KiB(unsigned long long count) {
    return static_cast<int64_t>(count) << 10;
}
constexpr int64_t operator""_MiB(unsigned long long count) {
    return static_cast<int64_t>(count) << 20;
}

// Dispatch: LLVM 23 takes what scheduled best, 3 for Neoverse N1 and 6 for V2; Arm's optimisation guides, section
// "Dispatch constraints", say 4, 8 for V1 and 8 for V2 (llvm-project#136374 and #154495). Of Cortex-A76, whose
// core N1 is, LLVM has the model of the older A57, and of Apple M1 that of the older Cyclone, which has three
// vector units where M1 has four.
const KnownCpu kCpus[] = {
    {"cortex-a72",
     {"cortex-a72", 0},
     "arm-64-linux-neon",
     "arm",
     "arm",
     0xd08,
     0,
     "neon",
     32_KiB,
     1_MiB,
     0,
     8,
     4,
     2},
    {"cortex-a76",
     {"neoverse-n1", 4},
     "arm-64-linux-arm_fp16",
     "arm",
     "arm",
     0xd0b,
     4,
     "neon,arm_fp16",
     64_KiB,
     512_KiB,
     2_MiB,
     16,
     8,
     4},
    {"neoverse-n1",
     {"neoverse-n1", 4},
     "arm-64-linux-arm_fp16",
     "arm",
     "arm",
     0xd0c,
     3,
     "neon,arm_fp16",
     64_KiB,
     1_MiB,
     32_MiB,
     16,
     8,
     4},
    {"neoverse-v1",
     {"neoverse-v1", 8},
     "arm-64-linux-armv86a-sve-256",
     "arm",
     "arm",
     0xd40,
     1,
     "neon,arm_fp16,armv86a,sve,vector_bits_256",
     64_KiB,
     1_MiB,
     32_MiB,
     32,
     12,
     6},
    {"neoverse-v2",
     {"neoverse-v2", 8},
     "arm-64-linux-armv86a-sve2-128",
     "arm",
     "arm",
     0xd4f,
     0,
     "neon,arm_fp16,armv86a,sve,sve2,vector_bits_128",
     64_KiB,
     2_MiB,
     36_MiB,
     32,
     12,
     6},
    {"apple-m1",
     {"apple-m1", 0},
     "arm-64-linux-arm_fp16",
     "arm",
     "apple",
     0x23,
     1,
     "neon,arm_fp16",
     128_KiB,
     12_MiB,
     0,
     32,
     16,
     16},
    {"znver3",
     {"znver3", 0},
     "x86-64-linux-tune_znver3-avx-avx2-f16c-fma-sse41",
     "x86",
     "amd",
     25,
     1,
     "sse41,avx,f16c,fma,avx2",
     32_KiB,
     512_KiB,
     32_MiB,
     32,
     16,
     8},
    {"znver4",
     {"znver4", 0},
     "x86-64-linux-avx-avx2-avx512-avx512_cannonlake-avx512_skylake-avx512_zen4-f16c-fma-sse41",
     "x86",
     "amd",
     25,
     17,
     "sse41,avx,f16c,fma,avx2,avx512,avx512_skylake,avx512_cannonlake,avx512_zen4",
     32_KiB,
     1_MiB,
     32_MiB,
     32,
     16,
     8},
    {"sapphirerapids",
     {"sapphirerapids", 0},
     "x86-64-linux-avx-avx2-avx512-avx512_cannonlake-avx512_sapphirerapids-avx512_skylake-f16c-fma-sse41",
     "x86",
     "intel",
     6,
     143,
     "sse41,avx,f16c,fma,avx2,avx512,avx512_skylake,avx512_cannonlake,avx512_sapphirerapids",
     48_KiB,
     2_MiB,
     105_MiB,
     48,
     10,
     8},
};

}  // namespace

std::span<const KnownCpu> known_cpus() {
    return kCpus;
}

std::string cpu_names() {
    std::string names;
    for (const KnownCpu &cpu : kCpus) {
        names += (names.empty() ? "" : ", ") + std::string(cpu.name);
    }
    return names;
}

const KnownCpu &known_cpu(const std::string &name) {
    return known_cpu_of(name, {});
}

const KnownCpu &known_cpu_of(const std::string &name, const Hardware &machine) {
    const auto *found = std::ranges::find(kCpus, name, &KnownCpu::name);
    if (found == std::end(kCpus)) {
        found = std::ranges::find_if(kCpus, [&](const KnownCpu &cpu) {
            return machine.arch == cpu.arch && machine.vendor == cpu.vendor && machine.family == cpu.family &&
                   machine.features == known_features(cpu.features);
        });
    }
    if (found == std::end(kCpus)) {
        throw UserError("the static model has no CPU '" + name + "'; known are " + cpu_names());
    }
    return *found;
}

const KnownCpu &known_host_cpu() {
    return known_cpu_of(host_cpu(), detect_hardware());
}

Hardware hardware_of(const KnownCpu &cpu) {
    constexpr int64_t kLineBytes = 64;
    return {cpu.arch,      cpu.vendor,   cpu.name,     cpu.family, cpu.model, 0, known_features(cpu.features),
            cpu.l1d_bytes, cpu.l2_bytes, cpu.l3_bytes, kLineBytes, 1};
}

}  // namespace normforge
