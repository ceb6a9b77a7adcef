#pragma once

#include "runtime/norm_problem.h"

namespace normforge {

// What a core can at most load from its first cache, and store to it, in bytes a nanosecond: no kernel on it can
// be faster, wherever its rows lie.
struct CoreLimits {
    double loaded;
    double stored;
};

// Measures this core's, with the widest vectors that it has, in a millisecond. A clock that rises afterwards
// makes them too low.
CoreLimits measure_core_limits();

// Nanoseconds that a call must take which loads each value of the rows that it reads once, and stores each that it
// writes.
double least_nanoseconds(const NormProblem &problem, int64_t rows, const CoreLimits &limits);

}  // namespace normforge
