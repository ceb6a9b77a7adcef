#include "autotune/base/text_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

#include "runtime/user_error.h"

namespace normforge {

std::string read_text_file(const std::string &path) {
    std::error_code error;
    std::ifstream file(path, std::ios::binary);
    if (std::filesystem::is_directory(path, error) || !file) {
        throw UserError(
            fmt::format("cannot read {}: {}", path, std::generic_category().message(file ? EISDIR : errno)));
    }
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string first_line(const std::filesystem::path &path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

}  // namespace normforge
