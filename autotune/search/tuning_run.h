#pragma once

#include "autotune/search/tuner.h"

namespace normforge {

// Does what tune() promises in a session that has begun, and may have trials already. Does not end it.
TuneReport run_session(const TuneRequest &request, int64_t session, Database &database, Progress &progress);

}  // namespace normforge
