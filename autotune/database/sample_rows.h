#pragma once

#include <vector>

#include "autotune/base/trial.h"
#include "autotune/database/sqlite.h"

namespace normforge {

void insert_samples(SqliteConnection &connection, int64_t trial, const std::vector<Sample> &samples);

// Reads those of one trial after another.
class SampleReader {
public:
    explicit SampleReader(const SqliteConnection &connection);

    // By block.
    std::vector<Sample> read(int64_t trial);

private:
    SqliteStatement select_;
};

}  // namespace normforge
