#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "generators/simulated_cycles.h"
#include "runtime/operands.h"

namespace normforge {

// Rows that an entry writes, where its argument, an nf_arguments, has their nf_output.
struct StreamedRows {
    size_t offset;
    size_t value_bytes;
};

// What the target has for values of fewer bits than f32: see schedules/target.h.
struct NarrowingMeans {
    bool rounds_bfloats;
    bool sums_word_pairs;
    bool shuffles_bytes;
    bool permutes_words;
    bool permutes_words_at_once;
    bool stores_narrowed;
};

// The ARM machine that plain bitcode is compiled for: see schedules/target.h.
struct ArmMachine {
    std::string features;  // as LLVM names them
    int vector_bits;       // of a register; above 128 it is one of SVE
    bool rounds_bfloats;
};

// A kernel as Halide lowered it: LLVM bitcode that holds `function`, and what its parameters are in their order.
// Rows are two-dimensional halide_buffer_t*, vectors and values of rows one-dimensional ones, numbers floats.
struct LoweredKernel {
    std::string bitcode;
    std::string function;
    std::vector<Operand> parameters;
    int64_t hidden;
    bool contracted;                     // products that are added become FMA: see contraction.h
    std::vector<StreamedRows> streamed;  // past the caches: see memory_hints.h
    bool gathers_stores;                 // see store_order.h
    NarrowingMeans narrowing;
    std::optional<ArmMachine> arm;       // then nothing of `narrowing` counts
    bool has_spread_row_values = false;  // values of rows are rows whose values all lie at one place
    bool has_slices = false;  // what is written is of (value, row of a slice, slice), and two numbers come before
                              // it: how many slices there are, and whether sums go on; here 1 and 0
};

// The LLVM stage: gives the kernel its C entry `void symbol(const nf_arguments *)`, inlines Halide's function into
// it, contracts products to FMA if it may (no other float rewriting), converts narrow values by what the target
// has for that, and tunes for the CPU that the bitcode or `arm` names. Only the entry is visible outside. The
// result depends on nothing but the arguments: two calls give equal bytes.
enum class CodegenForm { object, assembly, bitcode };
std::string generate_code(const LoweredKernel &kernel, const std::string &symbol, CodegenForm form);

// What that code takes on a CPU, simulated, for each of the numbers of rows that a pass of the loop over rows may
// go over. `compiled`, unless it is empty, gets the object of generate_code() before. Throws UserError where LLVM
// has no model of the CPU, or of an instruction that is used.
std::vector<KernelCycles> simulate_code(const LoweredKernel &kernel, const std::string &symbol,
                                        const CpuPipeline &cpu, const std::vector<int64_t> &rows_of_pass,
                                        const std::function<void(const std::string &object)> &compiled);

// The LLVM release that generate_code uses.
std::string llvm_version();

// Its name of this machine's CPU.
std::string host_cpu();

}  // namespace normforge
