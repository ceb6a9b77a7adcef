#pragma once

#include <string>
#include <vector>

#include "autotune/base/hardware.h"

namespace normforge {

// Something that helps or harms tuning, or makes it impossible.
struct Finding {
    std::string what;
    std::string state;
    std::string advice;  // empty where all is well
    bool fatal = false;  // nothing can be tuned
};

// Of the CPU's clock and of what else runs; the last ones are measured, which takes a second.
std::vector<Finding> machine_findings(const Hardware &hardware);

// Of the database at that path, which need not exist: its file system, and what in it is of no use.
std::vector<Finding> database_findings(const std::string &path);

}  // namespace normforge
