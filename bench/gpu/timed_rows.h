#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/norm_problem.h"

namespace normforge {

// Of a call that is timed: enough for several times what the caches of any GPU hold.
inline int64_t timed_rows(const NormProblem &problem) {
    constexpr int64_t kFewest = 16384;
    constexpr int64_t kBytes = int64_t{512} << 20;
    return std::max(kFewest, kBytes / row_bytes(problem));
}

}  // namespace normforge
