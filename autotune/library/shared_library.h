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

// The words of an environment variable that names a compiler, which may hold options after the program, as it does
// for make; or the usual one.
std::vector<std::string> compiler_words(const char *variable, const std::string &usual);

// Runs a compiler, which is to link `product`, to its end. Throws UserError, with what it was needed for, where
// there is none, and where it fails.
void run_linker(const std::vector<std::string> &command, const std::string &product, const std::string &needs);

}  // namespace normforge
