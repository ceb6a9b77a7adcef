#pragma once

#include <cstdint>
#include <string>

#include "Halide.h"

namespace normforge {

// The target of a kernel, from its name: "host", or a Halide target such as "x86-64-linux-avx2-fma-f16c". It has
// what every kernel is built with beside: strict_float (Halide otherwise treats floats as reals), and no runtime,
// no asserts and no bounds queries (the C API has checked everything before). Throws UserError for a name that
// Halide does not know and for an architecture without schedules.
Halide::Target kernel_target(const std::string &name);

// The shortest name that gives this target again.
std::string target_name(const Halide::Target &target);

// The instruction sets it needs, as bits of runtime/cpu_features.h.
uint64_t needed_cpu_features(const Halide::Target &target);

// Whether it has instructions that convert f16 values, that round f32 to bf16, that multiply and add with one
// rounding, that shuffle bytes within the halves of a register of 256 bits, that permute the 16-bit words of two
// registers of 512, and that store integers cut to fewer bits.
bool converts_f16(const Halide::Target &target);
bool rounds_bfloats(const Halide::Target &target);
bool has_fma(const Halide::Target &target);
bool shuffles_bytes(const Halide::Target &target);
bool permutes_words(const Halide::Target &target);
bool stores_narrowed(const Halide::Target &target);

// Whether its CPUs permute words in one operation. Others take three.
bool permutes_words_at_once(const Halide::Target &target);

}  // namespace normforge
