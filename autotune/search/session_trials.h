#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "autotune/base/progress.h"
#include "autotune/database/database.h"
#include "autotune/measure/contest.h"

namespace normforge {

// The trials of a session that runs, which are stored as they come.
class SessionTrials {
public:
    // Begins with what a resumed session has, if it is one.
    SessionTrials(Database &database, int64_t session);

    // By place, which never changes.
    const std::vector<Trial> &trials() const { return trials_; }

    static constexpr size_t kNone = SIZE_MAX;
    size_t place_of(const std::string &knobs, int64_t rows) const;  // or kNone

    // Stores the trial for those of the numbers of rows for which there is none of these knobs. Whoever has an
    // earlier one's machine code says so.
    void add(Trial trial, const std::vector<int64_t> &rows);

    // The knobs of the trial that came first of those with the same machine code; empty for itself.
    std::string twin(const Trial &trial) const;

    // Of these schedules for these numbers of rows: those that there are, but for whoever has a twin. The
    // reference is timed against itself, whichever of equal kernels was there first.
    std::vector<size_t> timed_places(const std::vector<std::string> &schedules, const std::vector<int64_t> &rows,
                                     const std::string &reference) const;

    // Those of the places whose trials are ok and of that number of rows and that have fewer samples, by how many
    // they have.
    std::map<int, std::vector<size_t>> lacking(const std::vector<size_t> &places, int64_t rows, int samples) const;

    // Runs a contest whose contenders are these places, from that block on, and keeps what comes of it, of an
    // interrupted one too.
    void keep(const std::vector<size_t> &places, int first_block, const std::function<bool()> &stop,
              Progress &progress, const std::function<void(const ContestObserver &)> &contest);

private:
    Database &database_;
    const int64_t session_;
    std::vector<int64_t> ids_;
    std::vector<Trial> trials_;
    std::map<std::pair<std::string, int64_t>, size_t> places_;
};

}  // namespace normforge
