#pragma once

#include <cstdint>
#include <vector>

#include "Halide.h"
#include "runtime/norm_problem.h"
#include "schedules/knobs.h"

namespace normforge {

// What an untuned library gets: good schedules for few rows, for many in cache and for more than a cache holds, as
// far as these differ. By rising min_rows, from which number of rows on each is used; the first is heuristic()'s,
// with min_rows 0. All give equal bits.
struct RowsSchedule {
    int64_t min_rows;
    Knobs knobs;
};
std::vector<RowsSchedule> heuristic_for_rows(const NormProblem &problem, const Halide::Target &target);

}  // namespace normforge
