// The limit out of cache: the same bytes, only copied. With a residual, two arrays are read and two written. A
// backward pass reads one more than it writes: the exclusive or of two is written.
// NORMFORGE_STREAMING: by stores that bypass the caches; without it by memcpy.

#include <immintrin.h>
#include <omp.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "bench/peers/peer_of.h"
#include "runtime/norm_problem.h"

namespace normforge {
namespace {

#if NORMFORGE_STREAMING
template <bool two>
__attribute__((target("avx512f"))) void copy_by_512(char *to, const char *from, const char *second, size_t bytes) {
    for (size_t at = 0; at < bytes; at += 64) {
        __m512i value = _mm512_loadu_si512(from + at);
        if (two) {
            value = _mm512_xor_si512(value, _mm512_loadu_si512(second + at));
        }
        _mm512_stream_si512(reinterpret_cast<__m512i *>(to + at), value);
    }
}

template <bool two>
__attribute__((target("avx"))) void copy_by_256(char *to, const char *from, const char *second, size_t bytes) {
    const auto load = [](const char *values) __attribute__((target("avx"))) {
        return _mm256_loadu_ps(reinterpret_cast<const float *>(values));
    };
    for (size_t at = 0; at < bytes; at += 32) {
        const __m256 value = two ? _mm256_xor_ps(load(from + at), load(second + at)) : load(from + at);
        _mm256_stream_ps(reinterpret_cast<float *>(to + at), value);
    }
}

template <bool two>
void copy_by_128(char *to, const char *from, const char *second, size_t bytes) {
    const auto load = [](const char *values) {
        return _mm_loadu_si128(reinterpret_cast<const __m128i *>(values));
    };
    for (size_t at = 0; at < bytes; at += 16) {
        const __m128i value = two ? _mm_xor_si128(load(from + at), load(second + at)) : load(from + at);
        _mm_stream_si128(reinterpret_cast<__m128i *>(to + at), value);
    }
}

// Of whole cache lines, from the beginning of one.
template <bool two>
void copy_lines(char *to, const char *from, const char *second, size_t bytes) {
    const auto copy = __builtin_cpu_supports("avx512f") ? copy_by_512<two>
                      : __builtin_cpu_supports("avx")   ? copy_by_256<two>
                                                        : copy_by_128<two>;
    copy(to, from, second, bytes);
    _mm_sfence();
}
#else
template <bool two>
void copy_lines(char *to, const char *from, const char *second, size_t bytes) {
    if (!two) {
        std::memcpy(to, from, bytes);
        return;
    }
    for (size_t at = 0; at < bytes; at += 64) {
        for (size_t byte = at; byte < at + 64; ++byte) {
            to[byte] = from[byte] ^ second[byte];
        }
    }
}
#endif

// Buffers begin at pages. The last bytes of a size that is no multiple of a cache line are left to memcpy.
void copy(char *to, const char *from, const char *second, size_t bytes) {
    const size_t whole = bytes / 64 * 64;
    (second ? copy_lines<true> : copy_lines<false>)(to, from, second, whole);
    std::memcpy(to + whole, from + whole, bytes - whole);
}

constexpr size_t kLeastBytesOfThread = 1 << 16;

// second is null where there is none.
struct Arrays {
    void *to;
    const void *from;
    const void *second;
};

std::vector<Arrays> arrays_of(const nf_problem &problem, const nf_arguments &arguments) {
    const bool has_residual = problem.residual != NF_NONE;
    if (problem.pass == NF_BACKWARD) {
        const void *h = has_residual ? arguments.sum.data : arguments.x.data;
        std::vector<Arrays> arrays{{arguments.dx.data, h, arguments.dy.data}};
        if (has_residual) {
            arrays.push_back({arguments.dresidual.data, arguments.dsum.data, nullptr});
        }
        return arrays;
    }
    std::vector<Arrays> arrays{{arguments.y.data, arguments.x.data, nullptr}};
    if (has_residual) {
        arrays.push_back({arguments.sum.data, arguments.residual.data, nullptr});
    }
    return arrays;
}

class Copy : public SimplePeer {
public:
    static std::unique_ptr<Copy> prepare(const nf_problem &problem, const nf_arguments &arguments,
                                         const peer_vectors &, int threads) {
        return std::make_unique<Copy>(problem, arguments, threads);
    }

    Copy(const nf_problem &problem, const nf_arguments &arguments, int threads)
        : arrays_(arrays_of(problem, arguments)),
          bytes_(value_count(problem, arguments) * element_size(problem.dtype)),
          threads_(std::clamp<int>(bytes_ / kLeastBytesOfThread, 1, threads)) {}

    static const char *version() { return ""; }

    void run_unit() {
        for (const Arrays &arrays : arrays_) {
            copy_all(arrays);
        }
    }

private:
    void copy_all(const Arrays &arrays) const {
        if (threads_ == 1) {
            copy_part(arrays, 0, bytes_);
            return;
        }
        constexpr size_t kPage = 4096;
        const size_t part = (bytes_ / threads_ + kPage - 1) / kPage * kPage;
#pragma omp parallel num_threads(threads_)
        {
            const size_t begin = std::min(part * omp_get_thread_num(), bytes_);
            const size_t end = omp_get_thread_num() == threads_ - 1 ? bytes_ : std::min(begin + part, bytes_);
            copy_part(arrays, begin, end);
        }
    }

    static void copy_part(const Arrays &arrays, size_t begin, size_t end) {
        const auto *second = static_cast<const char *>(arrays.second);
        copy(static_cast<char *>(arrays.to) + begin, static_cast<const char *>(arrays.from) + begin,
             second ? second + begin : nullptr, end - begin);
    }

    std::vector<Arrays> arrays_;
    size_t bytes_;
    int threads_;
};

}  // namespace
}  // namespace normforge

NORMFORGE_PEER_OF(normforge::Copy);
