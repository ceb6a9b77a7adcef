#pragma once

#include <string>

#include "Halide.h"
#include "generators/gpu_launch.h"
#include "generators/lowering.h"
#include "runtime/norm_problem.h"
#include "schedules/gpu_knobs.h"

namespace normforge {

// What the kernel may rely on of the addresses and row strides of what it moves by vectors: that they are
// multiples of a vector, or of a value only. Threads have the same values.
enum class GpuAlignment { vector, value };

// All that decides a GPU kernel's code. Its PTX is that of compute capability 8.0, which newer GPUs take as well.
struct GpuKernelSpec {
    NormProblem problem;
    GpuKnobs knobs;
    GpuAlignment alignment = GpuAlignment::vector;
};

// The kernel's name in PTX.
std::string kernel_symbol(const GpuKernelSpec &spec);

// PTX with one entry, kernel_symbol(), below comments of what a block needs, and how it is launched. Throws
// UserError for knobs that do not fit the problem, and CompileFailure.
struct GpuKernel {
    std::string ptx;
    GpuLaunch launch;
};
GpuKernel emit_cuda(const GpuKernelSpec &spec);

// The kernel that adds up backward's partial sums, of problems that have some, and its name in PTX.
bool has_gpu_sums(const NormProblem &problem);
GpuKernel emit_cuda_sums(const NormProblem &problem);
std::string gpu_sums_symbol(const NormProblem &problem);

// Its generator is gpu_sums, with these parameters.
GeneratorParams gpu_sums_params(const NormProblem &problem);

// All kernels of a problem in one text.
std::string emit_ptx(const GpuKernelSpec &spec);

// Halide's statement, with how it would launch the kernel.
std::string emit_gpu_stmt(const GpuKernelSpec &spec);

// The kernel's form with barriers as OpenCL C, and the target that it is for.
std::string emit_opencl(const GpuKernelSpec &spec);
Halide::Target opencl_target();

// Its loops as serial ones of a CPU, by an object with the entry kernel_symbol() of void(const nf_arguments *):
// the arithmetic of the GPU's kernel without a GPU. The target is from kernel_target().
std::string emit_serial(const GpuKernelSpec &spec, const Halide::Target &target);

}  // namespace normforge
