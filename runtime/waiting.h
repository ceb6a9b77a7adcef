#pragma once

#include <atomic>
#include <climits>
#include <cstdint>
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

// Looks again and again for a while, some tens of microseconds: whether the condition came to hold.
template <typename Condition>
bool comes_soon(Condition &&holds) {
    constexpr int kLooks = 1000;
    for (int look = 0; look < kLooks; look++) {
        if (holds()) {
            return true;
        }
        pause_briefly();
    }
    return false;
}

}  // namespace normforge
