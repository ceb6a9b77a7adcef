#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "autotune/manifest/manifest.h"

namespace normforge {

// One of `count` parts of a list of problems, for as many machines.
struct Shard {
    int64_t index = 1;  // from 1 to count
    int64_t count = 1;
};

// Of "2/8". Throws UserError.
Shard parse_shard(const std::string &text);

// The shard's problems, in the list's order. Every problem is in one shard, and sizes differ by at most 1. Which
// one depends on the list's problems alone, not on their order: by a hash they are put in a row, and dealt like
// cards.
std::vector<ProblemRows> problems_in(const Shard &shard, const std::vector<ProblemRows> &problems);

}  // namespace normforge
