#pragma once

#include <atomic>
#include <climits>
#include <cstdint>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

// Waiting for a word that another thread changes. std::atomic's own waiting is the C++ library's, which programs
// that link the runtime need not have, and a mutex may be held at a fork by a thread that the child lacks.

namespace normforge {

using SharedWord = std::atomic<uint32_t>;
static_assert(sizeof(SharedWord) == sizeof(uint32_t) && SharedWord::is_always_lock_free);

// Sleeps if the word has that value, until it is woken or for no reason.
inline void sleep_while(SharedWord &word, uint32_t value) {
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr);
}

inline void wake_all(SharedWord &word) {
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX);
}

// Tells the CPU that this is a loop that waits.
inline void pause_briefly() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb");
#endif
}

inline int64_t monotonic_nanoseconds() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

// Looks again and again, with a pause after each look: whether the condition came to hold within the time or about
// 32 looks. By the clock, as a CPU's instruction to pause takes from 10 ns (Intel Xeon) to 140 cycles or more.
template <typename Condition, typename Pause>
bool comes_within(int64_t nanoseconds, Condition &&holds, Pause &&pause) {
    constexpr int kLooks = 32;
    int64_t end = 0;
    for (;;) {
        for (int look = 0; look < kLooks; look++) {
            if (holds()) {
                return true;
            }
            pause();
        }
        const int64_t now = monotonic_nanoseconds();
        if (end == 0) {
            end = now + nanoseconds;
        } else if (now >= end) {
            return false;
        }
    }
}

}  // namespace normforge
