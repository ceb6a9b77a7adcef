#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/cuda_table.h"
#include "runtime/norm_problem.h"

namespace normforge {

// What runtime/kernel_table.h says of a variant and of a kernel, with the entry by its symbol.
struct TableVariant {
    std::string symbol;
    int64_t min_rows;
    std::string knobs;
    std::string source;
};

struct TableKernel {
    NormProblem problem;
    uint64_t cpu_features;
    std::string target;
    std::vector<TableVariant> variants;
};

// What runtime/cuda_table.h says of a kernel and of its forms.
struct TableCubin {
    int64_t capability;
    std::string bytes;
};

struct TableCudaCode {
    std::string image;
    std::string symbol;
    std::vector<nf_cuda_parameter> parameters;
    int64_t alignment;
    int64_t rows_of_block;
    int64_t threads_x;
    int64_t threads_y;
    int64_t shared_bytes;
    std::vector<TableCubin> cubins = {};
};

struct TableCudaEntry {
    NormProblem problem;
    std::string target;
    std::string knobs;
    std::string source;
    std::vector<TableCudaCode> codes;
    std::vector<TableCudaCode> sums = {};  // one, or none
};

// An object file with the library's constant table and the function that returns it,
// `const nf_library *NAME_library(void)`. Nothing else in it is visible outside. It is for the kind of machine
// that machine_object, any object file, is for. The entries that it refers to become hidden: a
// shared library does not export them, whatever their own objects say.
//
// There is at least one kernel, for a CPU or for CUDA. Kernels, variants and codes are written in the given order,
// which must be that of kernel_table.h and cuda_table.h. Equal arguments give equal bytes.
std::string table_object(const std::string &library_name, const std::vector<TableKernel> &kernels,
                         const std::vector<TableCudaEntry> &cuda_entries, const std::string &machine_object);

}  // namespace normforge
