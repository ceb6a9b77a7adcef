#pragma once

#include <string>
#include <vector>

#include "autotune/base/trial.h"

namespace normforge {

// Which trials of a round go on to the next, by their place in `trials`. Trials whose outputs have equal digests
// compete as one, since all numbers of rows must get one digest in the end: the `digests` best of them, by the
// geometric mean over the numbers of rows of each one's best ratio, go on with their `per_digest` fastest trials
// for every number of rows. The trials with the reference's knobs always go on: they tell the noise. Failed trials
// and those that an earlier round dropped never do.
std::vector<size_t> survivors(const std::vector<Trial> &trials, size_t digests, size_t per_digest,
                              const std::string &reference_knobs);

}  // namespace normforge
