#include "autotune/base/usable_cpus.h"

#include <sched.h>

#include <cerrno>
#include <system_error>

namespace normforge {

std::vector<int> usable_cpus() {
    cpu_set_t sets[8] = {};  // room for the 8192 CPUs that Linux can be built for
    if (sched_getaffinity(0, sizeof(sets), sets) != 0) {
        throw std::system_error(errno, std::generic_category(), "sched_getaffinity");
    }
    std::vector<int> cpus;
    for (int cpu = 0; cpu < 8 * CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET_S(cpu, sizeof(sets), sets)) {
            cpus.push_back(cpu);
        }
    }
    return cpus;
}

}  // namespace normforge
