#pragma once

#include "runtime/norm_problem.h"

namespace normforge {

// How many tasks a call on so many threads is cut into: 1 to NF_MAX_THREADS. Rows and groups as a caller gives
// them; with a wrong number it is 1.
int64_t task_count(const NormProblem &problem, int64_t rows, int64_t groups, int64_t threads);

// Where task's share of count things begins, which is where the last one's ends. Shares differ by at most one.
// task may be tasks, which is the end.
constexpr int64_t first_of_task(int64_t count, int64_t tasks, int64_t task) {
    return count / tasks * task + count % tasks * task / tasks;
}

}  // namespace normforge
