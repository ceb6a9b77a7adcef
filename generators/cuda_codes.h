#pragma once

#include <vector>

#include "generators/gpu_emit.h"
#include "generators/table_object.h"
#include "runtime/cuda_table.h"

namespace normforge {

// Compiles one code of a kernel. Throws as emit_cuda does.
TableCudaCode cuda_code(const GpuKernelSpec &spec);

// All codes of a kernel: for whole vectors, where these have more values than one, then for any alignment.
std::vector<TableCudaCode> cuda_codes(const NormProblem &problem, const GpuKnobs &knobs);

// The code that adds up backward's partial sums, if the problem has some.
std::vector<TableCudaCode> cuda_sums(const NormProblem &problem);

// The code as the runtime has it, for as long as it lives.
nf_cuda_code runtime_form(const TableCudaCode &code);

}  // namespace normforge
