#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/norm_problem.h"

namespace normforge {

// In place of a number of rows: as many as take kColdBytes, which is more than a cache.
inline constexpr const char *kColdRows = "cold";
inline constexpr int64_t kColdBytes = int64_t{64} << 20;

// What the texts mean for a problem, rising, without repeats. Throws UserError for one that is neither kColdRows
// nor a whole number from 1 on, in the bounds of problem fields.
std::vector<int64_t> row_counts(const NormProblem &problem, const std::vector<std::string> &texts);

}  // namespace normforge
