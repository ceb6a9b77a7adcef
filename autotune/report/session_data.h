#pragma once

#include <vector>

#include "autotune/report/report_data.h"

namespace normforge {

// A session for the page. Of each number of rows that several candidates were timed at:
// - "trials": [candidate, gain over the reference, samples] in the order in which they were tried;
// - "noise": [block, the reference's time over its own beside it, its ns] of the A/A samples.
// "failed" are the candidates that fell out, with the reason.
ReportJson session_data(const StoredSession &session, const std::vector<Trial> &trials);

}  // namespace normforge
