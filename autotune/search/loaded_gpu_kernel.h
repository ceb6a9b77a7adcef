#pragma once

#include <string>
#include <utility>
#include <vector>

#include "generators/cuda_codes.h"
#include "runtime/kernel_table.h"

namespace normforge {

// All code of a GPU kernel, compiled, as the runtime's table has them.
class GpuCode {
public:
    // Compiles it. Throws as emit_cuda does.
    GpuCode(const NormProblem &problem, const GpuKnobs &knobs);

    // What another process has compiled, by its bytes().
    GpuCode(const NormProblem &problem, const std::string &bytes);
    std::string bytes() const;

    GpuCode(const GpuCode &) = delete;
    GpuCode &operator=(const GpuCode &) = delete;

    const nf_library &library() const { return library_; }

    // Of the code that a session knows the kernel by: see any_kernel.h.
    const std::string &ptx() const { return compiled_.front().image; }

private:
    using Codes = std::vector<TableCudaCode>;
    GpuCode(const NormProblem &problem, std::pair<Codes, Codes> compiled);

    Codes compiled_, compiled_sums_;
    std::vector<nf_cuda_code> codes_, sums_;
    nf_cuda_entry entry_{};
    nf_library library_{};
};

// A GPU kernel, loaded into the current context. For a ChildProcess: a driver that was opened does not outlast a
// fork.
class LoadedGpuKernel {
public:
    // Throws std::runtime_error where the driver refuses the kernel. The code must outlive this.
    explicit LoadedGpuKernel(const GpuCode &code);
    ~LoadedGpuKernel();
    LoadedGpuKernel(const LoadedGpuKernel &) = delete;
    LoadedGpuKernel &operator=(const LoadedGpuKernel &) = delete;

    const nf_cuda_kernel &kernel() const { return *nf_cuda_kernel_at(cuda_, 0); }

private:
    nf_cuda *cuda_ = nullptr;
};

}  // namespace normforge
