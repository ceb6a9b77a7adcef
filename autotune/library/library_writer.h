#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "Halide.h"
#include "runtime/norm_problem.h"
#include "schedules/gpu_knobs.h"
#include "schedules/knobs.h"

namespace normforge {

// One schedule of a kernel, compiled.
struct LibraryVariant {
    Knobs knobs;
    int64_t min_rows;    // used from this number of rows on
    std::string source;  // where the schedule came from, as nf_describe tells it
    std::string object;  // from emit(), of the kernel's problem and target and these knobs
};

struct LibraryKernel {
    NormProblem problem;
    Halide::Target target;                 // from kernel_target()
    std::vector<LibraryVariant> variants;  // by rising min_rows; the first one's is 0
};

struct LibraryCudaKernel {
    NormProblem problem;
    GpuKnobs knobs;
    std::string source;
};

enum class LibraryKind { static_library, shared_library };

struct LibraryFiles {
    std::filesystem::path library;
    std::filesystem::path header;
};

// Writes the library libNAME.a or libNAME.so and its header NAME.h into the folder, which is made if it is
// missing. Programs need these two files, a C compiler and the C library; NAME_library() is the library's table
// for nf_find.
//
// The objects are stored byte for byte as given: what was measured is what runs. Equal arguments give equal files.
// Files appear whole, the header last, and nothing is left behind by a call that throws.
// Throws UserError for a name that is none, a folder that cannot be written, a shared library without a compiler,
// targets of two architectures, where ptxas is missing or fails, and ARM where the program was built without a
// compiler for it. With CUDA kernels alone it is a library for this machine. They are PTX, and machine code for
// the devices of those compute capabilities.
LibraryFiles write_library(const std::string &name, const std::filesystem::path &folder, LibraryKind kind,
                           const std::vector<LibraryKernel> &kernels,
                           const std::vector<LibraryCudaKernel> &cuda_kernels = {},
                           const std::vector<int64_t> &cubin_capabilities = {});

}  // namespace normforge
