#pragma once

// The layout of a generated library's table. generators/table_object writes it as constant data, so a change here
// is a change there; a test links and reads one.

#include "runtime/cuda_table.h"
#include "runtime/norm_problem.h"

// One compiled schedule of a kernel. All variants of a kernel give the same bits.
struct nf_variant {
    // Runs one group of rows: rows > 0, groups and group strides are not looked at, everything is checked, row
    // strides and offsets fit 31 bits. Backward takes at most gradient_slice_rows() rows, and dweight and dbias
    // point to hidden f32 values each, or are null where the problem has none, which it sets to the sums over
    // these rows. Their former values are of no meaning.
    void (*entry)(const nf_arguments *);
    int64_t min_rows;  // used from this number of rows on
    const char *symbol;
    const char *knobs;
    const char *source;
};

struct nf_kernel {
    nf_problem problem;
    uint64_t cpu_features;  // needed, as bits of cpu_features.h, of one kind of CPU
    const char *target;
    int64_t variant_count;       // at least 1
    const nf_variant *variants;  // by rising min_rows; the first one's is 0
};

struct nf_library {
    int64_t kernel_count;
    const nf_kernel *kernels;  // kernels of one problem: the most demanding in CPU features first
    int64_t cuda_count = 0;
    const nf_cuda_entry *cuda_entries = nullptr;  // one for a problem
};

namespace normforge {

// How many rows of a group backward sums into one partial row of weight and bias gradients. It decides the order
// of these sums, so it depends on the problem alone: as many as keep h and dy of a slice within 128 KiB, and so in
// the second cache; a power of two from 8 to 64.
int64_t gradient_slice_rows(const NormProblem &problem);

// What runs for that many rows: the last variant whose min_rows is not above it.
const nf_variant &variant_for(const nf_kernel &kernel, int64_t rows);

}  // namespace normforge
