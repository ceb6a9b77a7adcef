#pragma once

#include <functional>
#include <vector>

#include "autotune/database/database.h"
#include "autotune/search/selection.h"

namespace normforge {

// What a session's trials say is best.
struct Decision {
    StoredSession session;
    std::vector<Trial> trials;
    Selection selection;
};

// Whether they are of one problem, hardware and target.
bool are_of_one_key(const StoredSession &a, const StoredSession &b);

// The decisions of sessions of one problem, hardware and target, those to be preferred first. A later session
// comes before an earlier one, unless the earlier one was of the same toolchain, generator and reference and its
// schedules were faster, by more than the noise of both and 1 %, as the geometric mean over the numbers of rows of
// both. So a quick look does not undo a thorough search, and a merge of files decides by what was measured.
// A session of the static model comes after all that were measured. Sessions that are not done, or in which no
// schedule passed for all numbers of rows, decide nothing.
std::vector<Decision> decide(const Database &database, const std::vector<StoredSession> &sessions);

// The first decision for each problem, hardware and target that the database has one for, in the order of their
// texts, by the sessions that are wanted.
using SessionFilter = std::function<bool(const StoredSession &)>;
std::vector<Decision> best_decisions(
    const Database &database, const SessionFilter &is_wanted = [](const StoredSession &) { return true; });

}  // namespace normforge
