#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/norm_problem.h"

namespace normforge {

// Many problems, each field by the list of its values' texts. A field without a list has the usual value, which
// follows from op and dtype.
using FieldLists = std::map<std::string, std::vector<std::string>>;

// Throws UserError, as parse_field does, for a text that the field of that name cannot have in any problem.
void check_field(const std::string &field, const std::string &text);

// All combinations of checked texts, the first field's values slowest, without repeats. op and hidden must be
// among the fields. Throws UserError naming the problem whose fields do not fit each other.
std::vector<NormProblem> combinations(const FieldLists &lists);

}  // namespace normforge
