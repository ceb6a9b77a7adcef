#pragma once

#include <vector>

#include "autotune/library/library_writer.h"
#include "generators/table_object.h"

namespace normforge {

// Compiles a library's CUDA kernels, each for whole vectors and, where vectors have more values than one, for any
// alignment, as PTX and as machine code for those compute capabilities. Throws UserError for two kernels of one
// problem and for knobs that do not fit.
std::vector<TableCudaEntry> cuda_entries(const std::vector<LibraryCudaKernel> &kernels,
                                         const std::vector<int64_t> &cubin_capabilities = {});

}  // namespace normforge
