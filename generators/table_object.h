#pragma once

#include <cstdint>
#include <string>
#include <vector>

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

// An object file with the library's constant table and the function that returns it,
// `const nf_library *NAME_library(void)`. Nothing else in it is visible outside. It is for the kind of machine
// that kernel_object, any of the kernels' object files, is for. The entries that it refers to become hidden: a
// shared library does not export them, whatever their own objects say.
//
// There is at least one kernel. Kernels and variants are written in the given order, which must be
// kernel_table.h's. Equal arguments give equal bytes.
std::string table_object(const std::string &library_name, const std::vector<TableKernel> &kernels,
                         const std::string &kernel_object);

}  // namespace normforge
