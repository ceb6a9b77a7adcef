#pragma once

#include <vector>

#include "autotune/library/library_writer.h"
#include "generators/table_object.h"

namespace normforge {

// Compiles a library's CUDA kernels, each for whole vectors and, where vectors have more values than one, for any
// alignment. Throws UserError for two kernels of one problem and for knobs that do not fit.
std::vector<TableCudaEntry> cuda_entries(const std::vector<LibraryCudaKernel> &kernels);

}  // namespace normforge
