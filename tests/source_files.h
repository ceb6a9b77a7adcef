#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace normforge {

// The text of a file, by its path, which is from the project's root where it is not absolute.
inline std::string read_source(const std::filesystem::path &path) {
    std::ifstream file(NORMFORGE_SOURCE / path);
    EXPECT_TRUE(file) << path;
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace normforge
