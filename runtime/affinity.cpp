#include "runtime/affinity.h"

namespace normforge {

CpuSet CpuSet::of_thread(pid_t thread) {
    CpuSet set;
    return sched_getaffinity(thread, sizeof set.words_, set.words_) == 0 ? set : CpuSet{};
}

WithoutCpu::WithoutCpu(pid_t thread, int cpu) : thread_(thread), before_(CpuSet::of_thread(thread)) {
    CpuSet others = before_;
    others.remove(cpu);
    taken_ = others.count() > 0 && others.apply_to(thread);
}

WithoutCpu::~WithoutCpu() {
    if (taken_) {
        before_.apply_to(thread_);
    }
}

}  // namespace normforge
