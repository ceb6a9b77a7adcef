#pragma once

#include <vector>

namespace normforge {

// The numbers of the CPUs that this process may run on, rising; never empty.
std::vector<int> usable_cpus();

}  // namespace normforge
