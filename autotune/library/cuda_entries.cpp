#include "autotune/library/cuda_entries.h"

#include <set>
#include <string>

#include "autotune/library/cubins.h"
#include "generators/cuda_codes.h"
#include "runtime/user_error.h"

namespace normforge {

static void add_cubins(std::vector<TableCudaCode> &codes, const std::vector<int64_t> &capabilities) {
    for (TableCudaCode &code : codes) {
        for (const int64_t capability : capabilities) {
            code.cubins.push_back({capability, cubin(code.image, capability)});
        }
    }
}

std::vector<TableCudaEntry> cuda_entries(const std::vector<LibraryCudaKernel> &kernels,
                                         const std::vector<int64_t> &cubin_capabilities) {
    std::vector<TableCudaEntry> entries;
    std::set<std::string> seen;
    for (const LibraryCudaKernel &kernel : kernels) {
        if (!seen.insert(to_text(kernel.problem)).second) {
            throw UserError("two CUDA kernels for " + to_text(kernel.problem) + "; allowed is one");
        }
        TableCudaEntry entry{kernel.problem, kCudaTarget, to_text(kernel.knobs), kernel.source, {}};
        entry.codes = cuda_codes(kernel.problem, kernel.knobs);
        entry.sums = cuda_sums(kernel.problem);
        add_cubins(entry.codes, cubin_capabilities);
        add_cubins(entry.sums, cubin_capabilities);
        entries.push_back(std::move(entry));
    }
    return entries;
}

}  // namespace normforge
