#pragma once

#include <filesystem>
#include <string>

namespace normforge {

// All bytes of a file. Throws UserError with the path and the reason where it cannot be read.
std::string read_text_file(const std::string &path);

// Without its end; empty where there is none, or no such file.
std::string first_line(const std::filesystem::path &path);

}  // namespace normforge
