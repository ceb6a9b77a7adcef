#pragma once

#include <string>

namespace normforge {

// The hash of an object file's machine code, which is what its assembly says without the names: the bytes of code
// and constants and what is to be put in them at link time. Equal for objects that differ in the names of their
// own symbols and in the compiler's notes only, so a kernel that compiles to an equal one runs as it was measured.
// For object files of this project's kernels; aborts for other bytes.
std::string code_hash(const std::string &object);

}  // namespace normforge
