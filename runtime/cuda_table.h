#pragma once

// What a generated library's table has of CUDA kernels. generators/table_object writes it, as kernel_table.h's
// part.

#include <cstdint>

#include "runtime/norm_problem.h"

// What a parameter of a kernel's entry is made from.
enum nf_cuda_source : int64_t {
    NF_CUDA_POINTER,     // 8 bytes: the operand's data
    NF_CUDA_ROW_STRIDE,  // int32, in values
    NF_CUDA_NUMBER,      // f32
    NF_CUDA_ROWS,        // int32
    // Of backward, all int32 but the workspace:
    NF_CUDA_SLICE_STRIDE,  // in values, from a row of a slice to its next one
    NF_CUDA_SLICES,        // that the rows of the launch are dealt out to; of the sums: all partial sums
    NF_CUDA_CONTINUES,     // whether the launch adds to the partial sums of former rows
    NF_CUDA_WORKSPACE,     // 8 bytes: where the partial sums are
};

struct nf_cuda_parameter {
    nf_cuda_source source;
    int64_t operand;  // index in kOperands; of no meaning where there is no operand
};

namespace normforge {

// Code for whole vectors, and code for any alignment.
inline constexpr int64_t kMostCudaCodes = 2;

}  // namespace normforge

// Machine code for the devices of one major compute capability, from a minor one on.
struct nf_cuda_cubin {
    int64_t capability;  // 10 * major + minor
    const char *image;   // an ELF file
};

// One compiled form of a kernel.
struct nf_cuda_code {
    const char *image;  // PTX, a text
    const char *symbol;
    int64_t parameter_count;
    const nf_cuda_parameter *parameters;
    int64_t alignment;      // in values: what the data and the row stride of each operand must be a multiple of
    int64_t rows_of_block;  // of backward slices; of the sums values
    int64_t threads_x;
    int64_t threads_y;
    int64_t shared_bytes;
    int64_t cubin_count;
    const nf_cuda_cubin *cubins;  // of the same code; for other devices the driver compiles the PTX
};

// Their results may differ in the last place: the assembler fuses products as it likes.
struct nf_cuda_entry {
    nf_problem problem;
    const char *target;
    const char *knobs;
    const char *source;
    int64_t code_count;         // 1 to kMostCudaCodes
    const nf_cuda_code *codes;  // by falling alignment; the last one's is 1
    const nf_cuda_code *sums;   // which adds up backward's partial sums; null where there are none
};
