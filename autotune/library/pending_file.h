#pragma once

#include <filesystem>
#include <string_view>

namespace normforge {

// A file that appears under its name only when it is whole: until commit() it has another name in the same folder,
// and without commit() it is gone in the end. Every call throws UserError with the path and the reason where the
// file system refuses.
class PendingFile {
public:
    // Creates missing folders.
    explicit PendingFile(const std::filesystem::path &path);
    ~PendingFile();
    PendingFile(const PendingFile &) = delete;
    PendingFile &operator=(const PendingFile &) = delete;

    void write(std::string_view bytes);

    // Where it is until commit(), absolute. Another program may write it there, or put a file of its own in its
    // place.
    const std::filesystem::path &temporary_path() const { return temporary_path_; }

    // Replaces the file that had the name, if there was one.
    void commit();

private:
    std::filesystem::path path_;
    std::filesystem::path temporary_path_;
    int descriptor_;
};

}  // namespace normforge
