#pragma once

#include <optional>
#include <vector>

#include "autotune/search/resolver.h"

namespace normforge {

// What going without tuning is to be expected to cost, by problems that were tuned for the same target: the time
// of the schedules that the same step of the ladder would have given them, over the time of their best.
struct ExpectedLoss {
    double ratio;  // the geometric mean over the problems of each one's over the numbers of rows it was tuned for
    double worst_ratio;  // at any number of rows of any of them
    int64_t problems;
    bool is_elsewhere;  // they were measured on other hardware
};

// Of each kernel, by measured trials of the databases. The problems are of its pass and, as far as there are such,
// of its hardware, its op and its dtype, which count in this order. Nothing where there are none, and for kernels
// whose schedules were measured or simulated for just this problem, hardware and target.
std::vector<std::optional<ExpectedLoss>> expected_losses(const std::vector<ResolvedKernel> &kernels,
                                                         const KnownDatabases &databases, const Machine &machine);

}  // namespace normforge
