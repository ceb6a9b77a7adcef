#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace normforge {

// Links all members of a static library into a shared one, with the C compiler that the environment variable CC
// names, else cc. It exports what the members do not hide, is known to programs by soname, and needs nothing but
// the C library. The compiler's own messages go to standard error. Throws UserError where there is no such
// compiler, and where it fails.
void link_shared_library(const std::filesystem::path &archive, const std::string &soname,
                         const std::filesystem::path &output);

}  // namespace normforge
