#pragma once

#include <string>

#include "autotune/database/database.h"

namespace normforge {

// A line for each trial, after one of the columns' names: its session, problem, schedule, what became of it and,
// where it was timed, the medians of its samples. For spreadsheets and data frames; JSON is the form that can be
// imported.
std::string trial_csv(const Database &database);

}  // namespace normforge
