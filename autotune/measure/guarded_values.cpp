#include "autotune/measure/guarded_values.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

namespace normforge {

GuardedValues::GuardedValues(size_t count) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t bytes = count * sizeof(float);
    const size_t inner = (bytes + page - 1) / page * page;
    mapped_bytes_ = inner + 2 * page;
    mapping_ = mmap(nullptr, mapped_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping_ == MAP_FAILED) {
        throw std::bad_alloc();
    }
    char *first_page = static_cast<char *>(mapping_) + page;
    if (mprotect(first_page, inner, PROT_READ | PROT_WRITE) != 0) {
        munmap(mapping_, mapped_bytes_);
        throw std::bad_alloc();
    }
    values_ = {reinterpret_cast<float *>(first_page + inner - bytes), count};
}

GuardedValues::~GuardedValues() {
    munmap(mapping_, mapped_bytes_);
}

}  // namespace normforge
