#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace normforge {

// The text of a file, by its path from the project's root.
inline std::string read_source(const std::string &path) {
    std::ifstream file(NORMFORGE_SOURCE "/" + path);
    EXPECT_TRUE(file) << path;
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace normforge
