#include "autotune/measure/guarded_bytes.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>
#include <utility>

namespace normforge {

GuardedBytes::GuardedBytes(size_t count) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t inner = (count + page - 1) / page * page;
    mapped_bytes_ = inner + 2 * page;
    mapping_ = mmap(nullptr, mapped_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping_ == MAP_FAILED) {
        throw std::bad_alloc();
    }
    std::byte *first_page = static_cast<std::byte *>(mapping_) + page;
    // Not of nothing, which emulators refuse.
    if (inner != 0 && mprotect(first_page, inner, PROT_READ | PROT_WRITE) != 0) {
        munmap(mapping_, mapped_bytes_);
        throw std::bad_alloc();
    }
    bytes_ = {first_page + inner - count, count};
}

GuardedBytes::GuardedBytes(GuardedBytes &&other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)), mapped_bytes_(other.mapped_bytes_), bytes_(other.bytes_) {}

GuardedBytes::~GuardedBytes() {
    if (mapping_) {
        munmap(mapping_, mapped_bytes_);
    }
}

}  // namespace normforge
