#pragma once

#include <nlohmann/json.hpp>

#include "autotune/search/selection.h"
#include "runtime/norm_problem.h"

namespace normforge {

// What the commands print with --json. Fields keep the order in which they are added.
using Json = nlohmann::ordered_json;

Json json_of(const NormProblem &problem);
Json json_of(const Selection &selection);

}  // namespace normforge
