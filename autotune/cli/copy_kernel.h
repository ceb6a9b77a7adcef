#pragma once

#include "autotune/measure/single_kernel.h"

namespace normforge {

// The entry of a kernel that copies a problem's rows, from those that are read to those that are written, without
// arithmetic: what memory allows.
SingleKernel::Entry copy_entry(const NormProblem &problem);

// Read and written by it, together.
double copied_bytes(const NormProblem &problem, int64_t rows);

// GB/s that it reaches now, on one core.
double measure_copy(const NormProblem &problem, int64_t rows);

}  // namespace normforge
