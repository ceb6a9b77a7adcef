#pragma once

#include "runtime/norm_problem.h"
#include "schedules/knobs.h"

namespace normforge {

// Whether a row of bf16 values is taken in pairs of neighbours. A vector of 32-bit words holds one's code in its
// upper halves and the other's in its lower ones, and each is an f32 after a single operation that needs no
// shuffle: rms_norm of 4096 values took TODO of the time (Zen 4, AVX-512).
bool sums_in_pairs(const NormProblem &problem, const Knobs &knobs);
bool writes_in_pairs(const NormProblem &problem, const Knobs &knobs);

}  // namespace normforge
