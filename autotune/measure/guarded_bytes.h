#pragma once

#include <cstddef>
#include <span>

namespace normforge {

// Bytes of which the last is the last of its page, with an unreadable page behind and one before the first page: a
// kernel that reads or writes past the end dies at once. Values that fill them are aligned to a value, and often
// to no more.
class GuardedBytes {
public:
    explicit GuardedBytes(size_t count);
    ~GuardedBytes();
    GuardedBytes(const GuardedBytes &) = delete;
    GuardedBytes &operator=(const GuardedBytes &) = delete;
    GuardedBytes(GuardedBytes &&other) noexcept;
    GuardedBytes &operator=(GuardedBytes &&other) = delete;

    std::span<std::byte> bytes() const { return bytes_; }

private:
    void *mapping_;
    size_t mapped_bytes_;
    std::span<std::byte> bytes_;
};

}  // namespace normforge
