#pragma once

#include <cstdint>
#include <string>

#include "Halide.h"

namespace normforge {

// The target of a kernel, from its name: "host", kCudaTarget of gpu_knobs.h, or a Halide target such as
// "x86-64-linux-avx2-fma-f16c" or "arm-64-linux-sve2-vector_bits_256", of which "arm-64-linux-sve2-256" is a short
// form, as "arm-64-linux-neon" is one of "arm-64-linux". It has what every kernel is built with beside:
// strict_float (Halide otherwise treats floats as reals), and no runtime, no asserts and no bounds queries (the C
// API has checked everything before). Throws UserError for a name that Halide does not know, for an architecture
// without schedules, and for SVE without a length of its registers.
Halide::Target kernel_target(const std::string &name);

// The shortest name that gives this target again.
std::string target_name(const Halide::Target &target);

// Whether its kernels are for GPUs. What follows is of the others.
bool is_cuda(const Halide::Target &target);

// The instruction sets it needs, as bits of runtime/cpu_features.h.
uint64_t needed_cpu_features(const Halide::Target &target);

// What Halide compiles a kernel of an ARM target for, whose bitcode LLVM then takes to that target with
// machine_features(). Halide 21's own code for SVE is wrong, unsaid, where a vector does not fill whole registers,
// so SVE is left to LLVM, which makes it out of plain vectors that are as wide as its registers. Those Halide
// makes for x86, in code that names no instruction of it; for NEON it cuts all vectors into 128 bits. And it
// leaves f16 conversions to LLVM only where the target has f16 arithmetic, though every 64-bit ARM CPU has them.
// Of other targets it is the target.
Halide::Target lowering_target(const Halide::Target &target);

// Whether it is an ARM target or what Halide lowers for one.
bool lowers_for_arm(const Halide::Target &target);

// LLVM's names of the instruction sets that it is to use, "+bf16,+sve2", beyond the baseline. Of ARM; x86's stay
// as Halide names them.
std::string machine_features(const Halide::Target &target);

// Of a vector register of floats.
int vector_bits(const Halide::Target &target);

bool is_arm(const Halide::Target &target);

// Whether it has instructions that convert f16 values, that round f32 to bf16, that multiply and add with one
// rounding, that shuffle bytes within the halves of a register of 256 bits, that permute the 16-bit words of two
// registers of 512, and that store integers cut to fewer bits.
bool converts_f16(const Halide::Target &target);
bool rounds_bfloats(const Halide::Target &target);
bool has_fma(const Halide::Target &target);
bool shuffles_bytes(const Halide::Target &target);
bool permutes_words(const Halide::Target &target);
bool stores_narrowed(const Halide::Target &target);

// Whether it is for AMD's cores, as its instruction sets or what it is tuned for tell, or for Intel's with AVX-512
// from Sapphire Rapids on.
bool is_for_zen(const Halide::Target &target);
bool is_for_intel_server(const Halide::Target &target);

// Whether it has AVX512-VNNI where that is quicker than AVX512-BF16's rounding.
bool sums_word_pairs(const Halide::Target &target);

// Whether its CPUs widen 16 f16 values by two operations of 8.
bool widens_by_halves(const Halide::Target &target);

// Whether its CPUs permute words in one operation. Others take three.
bool permutes_words_at_once(const Halide::Target &target);

}  // namespace normforge
