// The newest oneDNN that PyPI has with OpenMP threads lies within PyTorch's library, whose headers declare it but
// whose dynamic symbols leave it out. onednn_jumps.S, made by scripts/peers/onednn_in_pytorch.py, has each of its
// functions as a jump by a table of the places in that library; this adds where the library was loaded.

#include <link.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

extern "C" {
extern uintptr_t normforge_onednn_places[];
extern const uint64_t normforge_onednn_count;
}

namespace {

int find_pytorch(dl_phdr_info *info, size_t, void *base) {
    if (!std::string_view(info->dlpi_name).ends_with("/libtorch_cpu.so")) {
        return 0;
    }
    *static_cast<uintptr_t *>(base) = info->dlpi_addr;
    return 1;
}

__attribute__((constructor)) void add_base() {
    uintptr_t base = 0;
    if (!dl_iterate_phdr(find_pytorch, &base)) {
        std::fputs("error: libtorch_cpu.so must be loaded before its oneDNN\n", stderr);
        std::abort();
    }
    for (uint64_t index = 0; index < normforge_onednn_count; ++index) {
        normforge_onednn_places[index] += base;
    }
}

}  // namespace
