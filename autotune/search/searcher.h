#pragma once

#include <cstdint>
#include <vector>

#include "Halide.h"
#include "runtime/norm_problem.h"
#include "schedules/knobs.h"

namespace normforge {

enum class Effort { quick, normal, exhaustive };

inline constexpr NamedValue<Effort> kEfforts[] = {
    {"quick", Effort::quick}, {"normal", Effort::normal}, {"exhaustive", Effort::exhaustive}};

// The schedules to try: the heuristic's first, then a sample of the space, without repeats and in the same order
// for the same seed. Exhaustive takes all of the space.
std::vector<Knobs> candidates(const NormProblem &problem, const Halide::Target &target, Effort effort,
                              uint64_t seed);

}  // namespace normforge
