#pragma once

#include <optional>

#include "autotune/base/progress.h"
#include "autotune/search/ladder.h"

namespace normforge {

// Below this the static model's order says too little to be used.
inline constexpr double kLeastCorrelation = 0.5;

// How the static model orders schedules that were measured on this machine, in cache: rank correlations over the
// schedules of each problem and number of rows.
struct ModelCheck {
    size_t groups;  // of a problem and a number of rows
    size_t trials;  // in all of them
    double median;  // of the groups' correlations
    double least;
};

// Of the latest sessions of the databases, ten problems at most. Nothing where this machine's CPU is not known, or
// no session of it has schedules enough.
std::optional<ModelCheck> check_model(const KnownDatabases &databases, Progress &progress);

}  // namespace normforge
