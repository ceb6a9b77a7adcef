// The limit out of cache: the same bytes, only copied. With a residual, two arrays are read and two written.
// NORMFORGE_STREAMING: by stores that bypass the caches; without it by memcpy.

#include <immintrin.h>
#include <omp.h>

#include <algorithm>
#include <cstring>

#include "bench/peers/peer_of.h"
#include "runtime/norm_problem.h"

namespace normforge {
namespace {

#if NORMFORGE_STREAMING
__attribute__((target("avx512f"))) void copy_by_512(char *to, const char *from, size_t bytes) {
    for (size_t at = 0; at < bytes; at += 64) {
        _mm512_stream_si512(reinterpret_cast<__m512i *>(to + at), _mm512_loadu_si512(from + at));
    }
}

__attribute__((target("avx"))) void copy_by_256(char *to, const char *from, size_t bytes) {
    for (size_t at = 0; at < bytes; at += 32) {
        _mm256_stream_si256(reinterpret_cast<__m256i *>(to + at),
                            _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from + at)));
    }
}

void copy_by_128(char *to, const char *from, size_t bytes) {
    for (size_t at = 0; at < bytes; at += 16) {
        _mm_stream_si128(reinterpret_cast<__m128i *>(to + at),
                         _mm_loadu_si128(reinterpret_cast<const __m128i *>(from + at)));
    }
}

// Buffers begin at pages; the last bytes of a size that is no multiple of a cache line are left to memcpy.
void copy(char *to, const char *from, size_t bytes) {
    const size_t whole = bytes / 64 * 64;
    const auto copy_whole = __builtin_cpu_supports("avx512f") ? copy_by_512
                            : __builtin_cpu_supports("avx")   ? copy_by_256
                                                              : copy_by_128;
    copy_whole(to, from, whole);
    _mm_sfence();
    std::memcpy(to + whole, from + whole, bytes - whole);
}
#else
void copy(char *to, const char *from, size_t bytes) {
    std::memcpy(to, from, bytes);
}
#endif

constexpr size_t kLeastBytesOfThread = 1 << 16;

class Copy : public SimplePeer {
public:
    static std::unique_ptr<Copy> prepare(const nf_problem &problem, const nf_arguments &arguments, const float *,
                                         const float *, int threads) {
        return std::make_unique<Copy>(problem, arguments, threads);
    }

    Copy(const nf_problem &problem, const nf_arguments &arguments, int threads)
        : arguments_(arguments), has_residual_(problem.residual != NF_NONE),
          bytes_(value_count(problem, arguments) * element_size(problem.dtype)),
          threads_(std::clamp<int>(bytes_ / kLeastBytesOfThread, 1, threads)) {}

    static const char *version() { return ""; }

    void run_unit() {
        copy_all(arguments_.y.data, arguments_.x.data);
        if (has_residual_) {
            copy_all(arguments_.sum.data, arguments_.residual.data);
        }
    }

private:
    void copy_all(void *to, const void *from) const {
        if (threads_ == 1) {
            copy(static_cast<char *>(to), static_cast<const char *>(from), bytes_);
            return;
        }
        constexpr size_t kPage = 4096;
        const size_t part = (bytes_ / threads_ + kPage - 1) / kPage * kPage;
#pragma omp parallel num_threads(threads_)
        {
            const size_t begin = std::min(part * omp_get_thread_num(), bytes_);
            const size_t end = omp_get_thread_num() == threads_ - 1 ? bytes_ : std::min(begin + part, bytes_);
            copy(static_cast<char *>(to) + begin, static_cast<const char *>(from) + begin, end - begin);
        }
    }

    nf_arguments arguments_;
    bool has_residual_;
    size_t bytes_;
    int threads_;
};

}  // namespace
}  // namespace normforge

NORMFORGE_PEER_OF(normforge::Copy);
