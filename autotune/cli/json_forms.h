#pragma once

#include <nlohmann/json.hpp>

#include "autotune/search/selection.h"
#include "runtime/norm_problem.h"

namespace normforge {

// What the commands print with --json. Fields keep the order in which they are added.
using Json = nlohmann::ordered_json;

// The help of every --json.
inline constexpr const char *kJsonHelp = "Print JSON: an array, also of one element";

Json json_of(const NormProblem &problem);
Json json_of(const Selection &selection);

// On standard output, with a line break at the end.
void print_json(const Json &json);

}  // namespace normforge
