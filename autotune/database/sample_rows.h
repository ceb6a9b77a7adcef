#pragma once

#include <vector>

#include "autotune/base/trial.h"
#include "autotune/database/sqlite.h"

namespace normforge {

void insert_samples(SqliteConnection &connection, int64_t trial, const std::vector<Sample> &samples);

// Those of a trial, by block.
std::vector<Sample> read_samples(const SqliteConnection &connection, int64_t trial);

}  // namespace normforge
