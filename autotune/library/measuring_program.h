#pragma once

#include <filesystem>

#include "autotune/library/library_writer.h"

namespace normforge {

// Links a static program that measures the kernel's variants where it is run: see measure/measuring_program.cpp.
// What it links stays beside the program. Throws UserError where there is no compiler for the kernel's target, or
// it cannot link.
void link_measuring_program(const LibraryKernel &kernel, const std::filesystem::path &program);

}  // namespace normforge
