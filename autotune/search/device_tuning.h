#pragma once

#include "autotune/search/tuner.h"

namespace normforge {

// What tune() does for a GPU, with that session: schedules in the order of the static model are compiled and held
// to the accuracy gate on the device, each in a child process; those that pass are timed by the device's own
// events in interleaved blocks beside the heuristic's, and a copy on the device that moves as many bytes beside
// them. Those that were slower than the heuristic's at some number of rows, and those far from the best, are
// dropped after the first blocks: one schedule is to serve all numbers of rows.
TuneReport run_device_session(const TuneRequest &request, const Hardware &gpu, int64_t session, Database &database,
                              Progress &progress);

}  // namespace normforge
