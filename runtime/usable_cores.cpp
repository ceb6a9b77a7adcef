#include "runtime/usable_cores.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "runtime/affinity.h"

namespace normforge {

namespace {

constexpr int64_t kNoLimit = INT64_MAX;

// A path or a line of a file; one that is longer is as good as none.
using Text = char[4096];

[[gnu::format(printf, 2, 3)]] bool print(Text &text, const char *format, ...) {
    va_list values;
    va_start(values, format);
    const int length = std::vsnprintf(text, sizeof text, format, values);
    va_end(values);
    return length >= 0 && static_cast<size_t>(length) < sizeof text;
}

// The first line of a file, empty where there is none.
void read_line(const char *folder, const char *name, Text &line) {
    Text path;
    line[0] = '\0';
    if (!print(path, "%s/%s", folder, name)) {
        return;
    }
    if (FILE *file = std::fopen(path, "re")) {
        if (!std::fgets(line, sizeof line, file)) {
            line[0] = '\0';
        }
        std::fclose(file);
    }
}

// Whole cores that one group allows: version 2 has "quota period" or "max period" in one file, version 1 a file
// for each and -1 for no limit.
int64_t group_limit(const char *group) {
    Text line;
    long long quota = -1;
    long long period = 0;
    read_line(group, "cpu.max", line);
    if (line[0] != '\0') {
        std::sscanf(line, "%lld %lld", &quota, &period);
    } else {
        read_line(group, "cpu.cfs_quota_us", line);
        std::sscanf(line, "%lld", &quota);
        read_line(group, "cpu.cfs_period_us", line);
        std::sscanf(line, "%lld", &period);
    }
    return quota > 0 && period > 0 ? quota / period : kNoLimit;
}

// Whether "cpu" is in a list such as "cpu,cpuacct".
bool has_cpu(const char *controllers) {
    while (true) {
        const size_t length = std::strcspn(controllers, ",");
        if (length == 3 && std::strncmp(controllers, "cpu", length) == 0) {
            return true;
        }
        if (controllers[length] == '\0') {
            return false;
        }
        controllers += length + 1;
    }
}

// The smallest limit of the group in a line "number:controllers:path" of /proc/self/cgroup and all those around
// it. Version 2 names no controllers.
int64_t nested_limit(const char *root, char *line) {
    char *controllers = std::strchr(line, ':');
    char *group = controllers ? std::strchr(controllers + 1, ':') : nullptr;
    if (!group) {
        return kNoLimit;
    }
    *group++ = '\0';
    controllers++;
    group[std::strcspn(group, "\n")] = '\0';
    Text path;
    if ((*controllers != '\0' && !has_cpu(controllers)) ||
        !print(path, "%s/sys/fs/cgroup/%s%s", root, controllers, group)) {
        return kNoLimit;
    }
    const size_t hierarchy = std::strlen(path) - std::strlen(group);
    int64_t limit = kNoLimit;
    while (true) {
        limit = std::min(limit, group_limit(path));
        char *last = std::strrchr(path, '/');
        if (last < path + hierarchy) {
            return limit;
        }
        *last = '\0';
    }
}

int64_t quota_in_cores(const char *root) {
    Text path;
    if (!print(path, "%s/proc/self/cgroup", root)) {
        return kNoLimit;
    }
    FILE *membership = std::fopen(path, "re");
    if (!membership) {
        return kNoLimit;
    }
    int64_t limit = kNoLimit;
    Text line;
    while (std::fgets(line, sizeof line, membership)) {
        limit = std::min(limit, nested_limit(root, line));
    }
    std::fclose(membership);
    return limit;
}

}  // namespace

int64_t usable_cores(const char *root) {
    return std::max<int64_t>(1, std::min<int64_t>(CpuSet::of_thread(0).count(), quota_in_cores(root)));
}

}  // namespace normforge
