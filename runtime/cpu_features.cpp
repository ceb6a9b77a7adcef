#include "runtime/cpu_features.h"

#if defined(__x86_64__)
#include <atomic>
#include <cpuid.h>

#include "runtime/x86_features.h"
#elif defined(__aarch64__)
#include <sys/auxv.h>

#include "runtime/arm_features.h"
#include "runtime/vector_length.h"
#endif

namespace normforge {

#if defined(__x86_64__)

namespace {

X86Words read_words() {
    X86Words words;
    uint32_t eax = 0;
    uint32_t ebx = 0;
    uint32_t ecx = 0;
    uint32_t edx = 0;
    if (__get_cpuid(1, &eax, &ebx, &ecx, &edx)) {
        words.leaf1_ecx = ecx;
        // XCR0 may only be read where the operating system has turned it on.
        if (ecx & bit_OSXSAVE) {
            asm("xgetbv" : "=a"(words.saved_state), "=d"(edx) : "c"(0));
        }
    }
    if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) {
        words.leaf7_ebx = ebx;
        words.leaf7_ecx = ecx;
        words.leaf7_edx = edx;
        const uint32_t last_subleaf = eax;
        if (last_subleaf >= 1 && __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx)) {
            words.leaf7_subleaf1_eax = eax;
        }
    }
    if (__get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx)) {
        words.extended_ecx = ecx;
    }
    return words;
}

// A bit of no feature: the CPU has been asked.
constexpr uint64_t kAsked = uint64_t{1} << 63;

// A virtual machine traps each cpuid (3.7 us on a KVM guest, and it takes eight), so the answer is kept. Threads
// that meet here write the same value.
constinit std::atomic<uint64_t> answer{0};

}  // namespace

uint64_t cpu_features() {
    uint64_t known = answer.load(std::memory_order_relaxed);
    if (known == 0) {
        known = x86_features(read_words()) | kAsked;
        answer.store(known, std::memory_order_relaxed);
    }
    return known & ~kAsked;
}

#elif defined(__aarch64__)

// What the kernel has told every program at its start takes no call to ask for, and a thread may change its
// length.
uint64_t cpu_features() {
    const uint64_t hwcap = getauxval(AT_HWCAP);
    return arm_features({hwcap, getauxval(AT_HWCAP2), has_sve(hwcap) ? sve_bits() : 0});
}

#else

uint64_t cpu_features() {
    return 0;
}

#endif

}  // namespace normforge
