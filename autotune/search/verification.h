#pragma once

#include <string>
#include <vector>

#include "autotune/search/decision.h"

namespace normforge {

// What the generators and compilers of today make of the schedules that a session chose.
enum class EntryState {
    fresh,  // what was measured: the same objects, or their machine code
    stale,  // other code, of which nothing was measured: good for tuning to begin with
    dead,   // nothing: knobs that are none any more or do not fit, or a kernel that no longer compiles
};

inline constexpr NamedValue<EntryState> kEntryStates[] = {
    {"fresh", EntryState::fresh}, {"stale", EntryState::stale}, {"dead", EntryState::dead}};

struct VerifiedEntry {
    StoredSession session;
    EntryState state;
    std::string reason;  // empty where the objects are the same
};

// All of best_decisions, compiled on all cores. Nothing is timed and the database is not changed: a fresh entry
// counts for today's compilers as it is.
std::vector<VerifiedEntry> verify_entries(const Database &database);

}  // namespace normforge
