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

// All of the space, without repeats and in the same order for equal arguments: the heuristic's schedules first,
// for few rows and for many; then those that are known to be good nearby, which must be legal; then those that are
// one step from the heuristic's; then the others, shuffled.
std::vector<Knobs> candidates(const NormProblem &problem, const Halide::Target &target, uint64_t seed,
                              const std::vector<Knobs> &known = {});

// What differs from these in one knob, or in the width of a vector alone: with as many lanes, and as many values a
// step, as before. Not all are legal.
std::vector<Knobs> neighbours(const Knobs &knobs);

}  // namespace normforge
