#pragma once

#include <filesystem>
#include <vector>

namespace normforge {

// The numbers of the CPUs that this process may run on, rising; never empty.
std::vector<int> usable_cpus();

// How many of them it can keep busy all the time: a control group's quota may allow less than all. At least 1.
// The files of /proc and /sys are read below root.
int usable_cores(const std::filesystem::path &root = "/");

}  // namespace normforge
