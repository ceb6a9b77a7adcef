#include "autotune/embedded_files.h"

// The first byte of each file in embedded_files.S, and the one after its last.
extern "C" {
extern const char normforge_runtime_archive_begin[];
extern const char normforge_runtime_archive_end[];
extern const char normforge_api_header_begin[];
extern const char normforge_api_header_end[];
}

namespace normforge {

std::string_view embedded_runtime_archive() {
    return {normforge_runtime_archive_begin, normforge_runtime_archive_end};
}

std::string_view embedded_api_header() {
    return {normforge_api_header_begin, normforge_api_header_end};
}

}  // namespace normforge
