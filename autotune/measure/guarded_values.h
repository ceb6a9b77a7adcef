#pragma once

#include <cstddef>
#include <span>

namespace normforge {

// f32 values whose last byte is the last of its page, with an unreadable page behind and one before the first
// page: a kernel that reads or writes past the end dies at once. The values start wherever their number puts them,
// aligned to an element and often to no more.
class GuardedValues {
public:
    explicit GuardedValues(size_t count);
    ~GuardedValues();
    GuardedValues(const GuardedValues &) = delete;
    GuardedValues &operator=(const GuardedValues &) = delete;

    std::span<float> values() { return values_; }

private:
    void *mapping_;
    size_t mapped_bytes_;
    std::span<float> values_;
};

}  // namespace normforge
