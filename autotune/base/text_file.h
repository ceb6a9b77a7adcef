#pragma once

#include <string>

namespace normforge {

// All bytes of a file. Throws UserError with the path and the reason where it cannot be read.
std::string read_text_file(const std::string &path);

}  // namespace normforge
