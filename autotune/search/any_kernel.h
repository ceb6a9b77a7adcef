#pragma once

#include <string>
#include <variant>
#include <vector>

#include "generators/emit.h"
#include "generators/gpu_emit.h"

namespace normforge {

// A kernel for CPUs or for GPUs, which the database and the ladder treat alike. Of a GPU's two codes it is the one
// that moves whole vectors, or the only one of schedules that move a value at a time.
using AnyKernelSpec = std::variant<KernelSpec, GpuKernelSpec>;

// By the text of its knobs. Throws UserError for text that is none of the target's knobs, and where check() has a
// reason against them.
AnyKernelSpec kernel_spec(const NormProblem &problem, const std::string &knobs, const Halide::Target &target);

const NormProblem &problem_of(const AnyKernelSpec &spec);
std::string knobs_text(const AnyKernelSpec &spec);
std::string target_text(const AnyKernelSpec &spec);

// What must be equal for kernels that serve a problem at different numbers of rows: what their bits depend on. Of
// GPU schedules it is all knobs, since a library has one kernel of each problem.
std::string arithmetic_text(const AnyKernelSpec &spec);

// The object file, or PTX of the kernel that moves the rows.
std::string kernel_code(const AnyKernelSpec &spec);

// The hash of such a code without names and comments: see autotune/base/code_hash.h.
std::string kernel_code_hash(const AnyKernelSpec &spec, const std::string &code);

// What an untuned library gets: a kernel for each range of numbers of rows.
struct UntunedKernel {
    AnyKernelSpec spec;
    int64_t min_rows;
};
std::vector<UntunedKernel> untuned_kernels(const NormProblem &problem, const Halide::Target &target);

}  // namespace normforge
