#pragma once

#include <string>
#include <vector>

namespace normforge {

// Lines of cells in columns as wide as their widest cell, two spaces apart, each line begun by `start`.
std::string text_table(const std::vector<std::vector<std::string>> &rows, const std::string &start = "");

}  // namespace normforge
