#pragma once

#include <cstdint>

namespace normforge {

// How many CPUs this process can keep busy all the time: those that it may run on, or less by the quotas of its
// control groups, of version 1 or 2. At least 1. The files of /proc and /sys are read below root.
int64_t usable_cores(const char *root = "/");

}  // namespace normforge
