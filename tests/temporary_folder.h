#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace normforge {

// An empty folder that goes away with its contents.
class TemporaryFolder {
public:
    TemporaryFolder() {
        std::string name = testing::TempDir() + "normforge-XXXXXX";
        if (!mkdtemp(name.data())) {
            throw std::runtime_error("cannot make a folder in " + testing::TempDir());
        }
        path_ = name;
    }
    ~TemporaryFolder() { std::filesystem::remove_all(path_); }
    TemporaryFolder(const TemporaryFolder &) = delete;
    TemporaryFolder &operator=(const TemporaryFolder &) = delete;

    std::filesystem::path operator/(const std::string &name) const { return path_ / name; }
    const std::filesystem::path &path() const { return path_; }

    // Writes a file below the folder, making the folders in between.
    void write(const std::string &name, const std::string &bytes) const {
        std::filesystem::create_directories((path_ / name).parent_path());
        std::ofstream(path_ / name, std::ios::binary) << bytes;
    }

    std::string read(const std::string &name) const {
        std::ifstream file(path_ / name, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

private:
    std::filesystem::path path_;
};

}  // namespace normforge
