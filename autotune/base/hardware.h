#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace normforge {

// The architecture of GPUs.
inline constexpr const char *kGpuArch = "cuda";

// The machine that kernels are measured on: a CPU, or a GPU. A number that the machine does not tell is 0, a text
// "unknown". Of a GPU, family and model are its compute capability, l1d_bytes the shared memory of a processor and
// usable_cores its processors.
struct Hardware {
    std::string arch;    // "x86", "arm": as in Halide's targets; or kGpuArch
    std::string vendor;  // "amd", "intel"; of others, what the CPU says; on ARM who designed the core
    std::string model_name;
    int64_t family;     // on ARM the part number, which names the core
    int64_t model;      // on ARM the variant: rN of rNpM
    int64_t stepping;   // on ARM the revision: pM
    uint64_t features;  // as of runtime/cpu_features.h
    int64_t l1d_bytes;
    int64_t l2_bytes;
    int64_t l3_bytes;
    int64_t line_bytes;    // of the L1 data cache
    int64_t usable_cores;  // by this process

    bool operator==(const Hardware &) const = default;
};

// This machine's. The files of /proc and /sys are read below root.
Hardware detect_hardware(const std::filesystem::path &root = "/");

// The names of the features, "sse41,avx,fma", in the order of runtime/cpu_features.h.
std::string feature_names(uint64_t features);

// The inverse. Leaves out the names that it does not know.
uint64_t known_features(const std::string &names);

// "x86-amd-25-17-avx512_zen4-39d352d5". Equal for machines on which a kernel measured on the one can be expected
// to do as well on the other: vendor, family, model, instruction sets and caches. The last part is a hash of all
// of these; of the instruction sets only the last is shown. Clock, stepping, model name and cores do not count but
// of GPUs, whose makers sell one model with several memories.
std::string signature(const Hardware &hardware);

}  // namespace normforge
