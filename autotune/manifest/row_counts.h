#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "autotune/base/hardware.h"
#include "runtime/norm_problem.h"

namespace normforge {

// In place of a number of rows: as many as take cold_bytes, which is more than a cache holds.
inline constexpr const char *kColdRows = "cold";
inline constexpr int64_t kLeastColdBytes = int64_t{64} << 20;
inline constexpr int64_t kColdCaches = 2;

// kColdCaches times the machine's largest cache, of which nothing then stays from one call to the next, and at
// least kLeastColdBytes: caches are not told by every machine, nor are those of one that is not at hand.
int64_t cold_bytes(const Hardware &machine);

// What the texts mean for a problem, rising, without repeats. Throws UserError for one that is neither kColdRows
// nor a whole number from 1 on, in the bounds of problem fields.
std::vector<int64_t> row_counts(const NormProblem &problem, const std::vector<std::string> &texts,
                                int64_t cold_bytes);

}  // namespace normforge
