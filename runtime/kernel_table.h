#pragma once

// The layout of a generated library's table. generators/table_object writes it as constant data, so a change here
// is a change there; a test links and reads one.

#include "runtime/normforge.h"

// One compiled schedule of a kernel. All variants of a kernel give the same bits.
struct nf_variant {
    void (*entry)(const nf_arguments *);  // rows > 0, everything checked, row offsets fit 31 bits
    int64_t min_rows;                     // used from this number of rows on
    const char *symbol;
    const char *knobs;
    const char *source;
};

struct nf_kernel {
    nf_problem problem;
    uint64_t cpu_features;  // needed, as bits of cpu_features.h
    const char *target;
    int64_t variant_count;       // at least 1
    const nf_variant *variants;  // by rising min_rows; the first one's is 0
};

struct nf_library {
    int64_t kernel_count;
    const nf_kernel *kernels;  // kernels of one problem: the most demanding in CPU features first
};

namespace normforge {

// What runs for that many rows: the last variant whose min_rows is not above it.
const nf_variant &variant_for(const nf_kernel &kernel, int64_t rows);

}  // namespace normforge
