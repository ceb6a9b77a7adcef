#pragma once

#include <string>
#include <vector>

namespace normforge {

// A kernel as Halide lowered it: LLVM bitcode that holds `function`, and what its parameters are in their order.
// One of nf_arguments' operands, each a two-dimensional or one-dimensional halide_buffer_t*, or epsilon, a float.
enum class Operand { x, weight, bias, epsilon, y };

struct LoweredKernel {
    std::string bitcode;
    std::string function;
    std::vector<Operand> parameters;
    int64_t hidden;
};

// The LLVM stage: gives the kernel its C entry `void symbol(const nf_arguments *)`, inlines Halide's function into
// it, contracts multiplications and additions to FMA (no other float rewriting), and tunes for the CPU that the
// bitcode names. Only the entry is visible outside. The result depends on nothing but the arguments: two calls
// give equal bytes.
enum class CodegenForm { object, assembly, bitcode };
std::string generate_code(const LoweredKernel &kernel, const std::string &symbol, CodegenForm form);

// The LLVM release that generate_code uses.
std::string llvm_version();

}  // namespace normforge
