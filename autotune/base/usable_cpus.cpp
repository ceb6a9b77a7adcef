#include "autotune/base/usable_cpus.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>

namespace normforge {

namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

// Cores allowed by one group: version 2 has "quota period" or "max period" in one file, version 1 a file for each
// and -1 for no limit.
double group_limit(const std::filesystem::path &group) {
    double quota = -1;
    double period = 0;
    if (std::ifstream file(group / "cpu.max"); file) {
        file >> quota >> period;  // "max" leaves the period 0
    } else {
        std::ifstream(group / "cpu.cfs_quota_us") >> quota;
        std::ifstream(group / "cpu.cfs_period_us") >> period;
    }
    return quota > 0 && period > 0 ? quota / period : kNoLimit;
}

// The folder of a hierarchy that has limits for CPU time, for a line "number:controllers:path" of
// /proc/self/cgroup.
std::optional<std::filesystem::path> cpu_hierarchy(const std::string &controllers) {
    const std::filesystem::path groups = "sys/fs/cgroup";
    if (controllers.empty()) {
        return groups;
    }
    std::istringstream list(controllers);
    for (std::string controller; std::getline(list, controller, ',');) {
        if (controller == "cpu") {
            return groups / controllers;
        }
    }
    return std::nullopt;
}

// The smallest limit of a group and all those around it.
double nested_limit(const std::filesystem::path &hierarchy, std::filesystem::path group) {
    double limit = kNoLimit;
    for (;; group = group.parent_path()) {
        limit = std::min(limit, group_limit(hierarchy / group));
        if (group.empty()) {
            return limit;
        }
    }
}

double quota_in_cores(const std::filesystem::path &root) {
    double limit = kNoLimit;
    std::ifstream membership(root / "proc/self/cgroup");
    for (std::string line; std::getline(membership, line);) {
        std::istringstream fields(line);
        std::string number, controllers, group;
        std::getline(std::getline(std::getline(fields, number, ':'), controllers, ':'), group);
        if (auto hierarchy = cpu_hierarchy(controllers)) {
            limit = std::min(limit, nested_limit(root / *hierarchy, std::filesystem::path(group).relative_path()));
        }
    }
    return limit;
}

}  // namespace

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

int usable_cores(const std::filesystem::path &root) {
    const auto affinity = static_cast<double>(usable_cpus().size());
    return std::max(1, static_cast<int>(std::min(affinity, quota_in_cores(root))));
}

}  // namespace normforge
