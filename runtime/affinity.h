#pragma once

#include <cstdint>
#include <sched.h>

namespace normforge {

// A set of CPUs with room for the 8192 that Linux can be built for.
class CpuSet {
public:
    // Those that a thread may run on, by its id, where 0 is the calling thread; none where Linux has more of them.
    static CpuSet of_thread(pid_t thread);

    int count() const { return CPU_COUNT_S(sizeof words_, words_); }
    void remove(int cpu) { CPU_CLR_S(static_cast<size_t>(cpu), sizeof words_, words_); }

    // Makes these the CPUs that a thread may run on, and moves it to one of them. Whether that is allowed.
    bool apply_to(pid_t thread) const { return sched_setaffinity(thread, sizeof words_, words_) == 0; }

private:
    cpu_set_t words_[8] = {};
};

// While it lives, a thread may not run on a CPU, unless it has no other one.
class WithoutCpu {
public:
    WithoutCpu(pid_t thread, int cpu);
    ~WithoutCpu();
    WithoutCpu(const WithoutCpu &) = delete;
    WithoutCpu &operator=(const WithoutCpu &) = delete;

private:
    pid_t thread_;
    CpuSet before_;
    bool taken_;
};

}  // namespace normforge
