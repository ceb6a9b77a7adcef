#pragma once

#include <span>
#include <string>

#include "Halide.h"
#include "autotune/base/hardware.h"
#include "generators/simulated_cycles.h"

namespace normforge {

// A CPU that the static model has figures for, at hand or not.
struct KnownCpu {
    const char *name;  // LLVM's
    // Whose scheduling model of LLVM's stands for it, and how many micro-operations that may dispatch a cycle; 0
    // for LLVM's own width.
    CpuPipeline pipeline;
    const char *target;  // of the kernels that suit it
    // As detect_hardware() would see it; of the caches the usual sizes, where vendors differ.
    const char *arch;
    const char *vendor;
    int family;
    int model;
    const char *features;
    int64_t l1d_bytes;
    int64_t l2_bytes;
    int64_t l3_bytes;
    // Bytes a cycle that one core moves between its first cache and each level beyond: round figures, since the
    // clocks of memory and core differ from machine to machine.
    double l2_bandwidth;
    double l3_bandwidth;
    double memory_bandwidth;
};

std::span<const KnownCpu> known_cpus();

// "cortex-a72, cortex-a76, ..."
std::string cpu_names();

// Throws UserError with the names that are known.
const KnownCpu &known_cpu(const std::string &name);

// The one with that name of LLVM's or, where none has it, of that vendor and family with just these instruction
// sets: virtual machines may tell the model of another CPU, by which LLVM goes. Throws UserError where there is
// none.
const KnownCpu &known_cpu_of(const std::string &name, const Hardware &machine);

// The one that this machine has. Throws UserError for another one.
const KnownCpu &known_host_cpu();

// A machine with that CPU.
Hardware hardware_of(const KnownCpu &cpu);

}  // namespace normforge
