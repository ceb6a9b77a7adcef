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

// The schedules to try, without repeats and in the same order for equal arguments: the heuristic's first, for few
// rows and for many; then those that are known to be good nearby, which must be legal; then those that are one
// step from the heuristic's; then a sample of the space. Exhaustive takes all of it.
std::vector<Knobs> candidates(const NormProblem &problem, const Halide::Target &target, Effort effort,
                              uint64_t seed, const std::vector<Knobs> &known = {});

}  // namespace normforge
