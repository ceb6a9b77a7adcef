#include "autotune/library/pending_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <random>
#include <system_error>
#include <utility>

#include "runtime/user_error.h"

namespace normforge {

namespace {

[[noreturn]] void fail(const std::filesystem::path &path, const std::error_code &reason) {
    throw UserError("cannot write " + path.string() + ": " + reason.message());
}

[[noreturn]] void fail(const std::filesystem::path &path) {
    fail(path, std::error_code(errno, std::generic_category()));
}

}  // namespace

PendingFile::PendingFile(const std::filesystem::path &path) : path_(std::filesystem::absolute(path)) {
    std::error_code error;
    std::filesystem::create_directories(path_.parent_path(), error);
    if (error) {
        fail(path_, error);
    }
    temporary_path_ =
        path_.parent_path() / fmt::format(".{}.{:08x}", path_.filename().string(), std::random_device()());
    descriptor_ = open(temporary_path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0) {
        fail(path_);
    }
}

PendingFile::~PendingFile() {
    if (descriptor_ >= 0) {
        close(descriptor_);
    }
    if (!temporary_path_.empty()) {
        unlink(temporary_path_.c_str());
    }
}

void PendingFile::write(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
        if (written >= 0) {
            bytes.remove_prefix(static_cast<size_t>(written));
        } else if (errno != EINTR) {
            fail(path_);
        }
    }
}

void PendingFile::commit() {
    // A file system over a network may tell only now that it is full.
    if (close(std::exchange(descriptor_, -1)) != 0 || rename(temporary_path_.c_str(), path_.c_str()) != 0) {
        fail(path_);
    }
    temporary_path_.clear();
}

}  // namespace normforge
