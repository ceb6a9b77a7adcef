#include "autotune/library/cuda_entries.h"

#include <set>
#include <string>

#include "generators/cuda_codes.h"
#include "runtime/user_error.h"

namespace normforge {

std::vector<TableCudaEntry> cuda_entries(const std::vector<LibraryCudaKernel> &kernels) {
    std::vector<TableCudaEntry> entries;
    std::set<std::string> seen;
    for (const LibraryCudaKernel &kernel : kernels) {
        if (!seen.insert(to_text(kernel.problem)).second) {
            throw UserError("two CUDA kernels for " + to_text(kernel.problem) + "; allowed is one");
        }
        TableCudaEntry entry{kernel.problem, kCudaTarget, to_text(kernel.knobs), kernel.source, {}};
        entry.codes = cuda_codes(kernel.problem, kernel.knobs);
        entry.sums = cuda_sums(kernel.problem);
        entries.push_back(std::move(entry));
    }
    return entries;
}

}  // namespace normforge
