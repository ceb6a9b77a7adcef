#include "runtime/affinity.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace normforge {
namespace {

constexpr pid_t kThisThread = 0;

int usable_cpus() {
    return CpuSet::of_thread(kThisThread).count();
}

// In a thread of its own, whose affinity ends with it.
template <typename Body>
void in_thread(Body &&body) {
    std::jthread thread(body);
}

TEST(WithoutCpu, ThreadIsOnAnotherOne) {
    if (usable_cpus() < 2) {
        GTEST_SKIP() << "this process may run on one CPU only";
    }
    in_thread([] {
        const int before = usable_cpus();
        for (int turn = 0; turn < 10; turn++) {
            const int cpu = sched_getcpu();
            {
                const WithoutCpu away(kThisThread, cpu);
                EXPECT_NE(sched_getcpu(), cpu);
                EXPECT_EQ(usable_cpus(), before - 1);
            }
            EXPECT_EQ(usable_cpus(), before);
        }
    });
}

TEST(WithoutCpu, ThreadKeepsItsOnlyOne) {
    in_thread([] {
        const int cpu = sched_getcpu();
        cpu_set_t only;
        CPU_ZERO(&only);
        CPU_SET(cpu, &only);
        ASSERT_EQ(sched_setaffinity(kThisThread, sizeof only, &only), 0);
        const WithoutCpu away(kThisThread, cpu);
        EXPECT_EQ(sched_getcpu(), cpu);
        EXPECT_EQ(usable_cpus(), 1);
    });
}

}  // namespace
}  // namespace normforge
