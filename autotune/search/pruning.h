#pragma once

#include <string>
#include <vector>

#include "autotune/database/database.h"

namespace normforge {

struct PrunableSession {
    StoredSession session;
    std::string reason;
};

// The sessions that the database can do without: aborted ones, and those of another toolchain or generator than
// the session that decides what is best for their problem, hardware and target, and older than it. Those that
// decide something stay, and those that are running, or were killed.
std::vector<PrunableSession> prunable_sessions(const Database &database);

// What it takes to decide as the database does, and little else: of the sessions that decide, the trials of the
// schedules they chose, of the reference, and of those of an untuned library.
Evidence deciding_evidence(Database &database);

}  // namespace normforge
