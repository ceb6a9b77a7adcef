#include "autotune/measure/disturbances.h"

#include <sys/resource.h>
#include <time.h>

namespace normforge {

namespace {

constexpr double kLeastShare = 0.98;

}  // namespace

Disturbances::Disturbances() : before_(usage()) {}

bool Disturbances::are_felt(double nanoseconds) const {
    const Usage now = usage();
    return now.involuntary_switches != before_.involuntary_switches ||
           now.cpu_nanoseconds - before_.cpu_nanoseconds < kLeastShare * nanoseconds;
}

Disturbances::Usage Disturbances::usage() {
    rusage counts{};
    getrusage(RUSAGE_THREAD, &counts);
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return {counts.ru_nivcsw, static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec)};
}

}  // namespace normforge
