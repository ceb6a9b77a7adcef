#pragma once

#include <string>
#include <vector>

#include "Halide.h"
#include "runtime/norm_problem.h"
#include "schedules/knobs.h"

namespace normforge {

// Why these knobs cannot serve the problem on the target, or an empty text if they can.
std::string check(const NormProblem &problem, const Knobs &knobs, const Halide::Target &target);

// Throws UserError with the knobs, the problem and the reason where there is one.
void require_fit(const NormProblem &problem, const Knobs &knobs, const Halide::Target &target);

// Every combination of legal values that check() accepts, in a fixed order.
std::vector<Knobs> enumerate(const NormProblem &problem, const Halide::Target &target);

// A good schedule without measuring, for a few rows in cache: the reference of every measurement.
Knobs heuristic(const NormProblem &problem, const Halide::Target &target);

}  // namespace normforge
