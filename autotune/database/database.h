#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "autotune/base/trial.h"
#include "autotune/database/evidence.h"
#include "autotune/database/session.h"
#include "autotune/database/sqlite.h"

namespace normforge {

// A tuning database: sessions, their trials and the raw samples. What is best is not stored but decided from
// these: see search/decision.h. Every call that writes is one transaction, so a process that is killed loses the
// call in flight and nothing else. Any number of processes may use a file at once. Calls throw DatabaseError; one
// object is for one thread.
class Database {
public:
    // For reading and writing. Creates the file and its folders.
    static Database open(const std::string &path);

    // For reading; does not change the file: one of an older schema is read through a copy in memory. Throws
    // DatabaseError where there is none.
    static Database open_read_only(const std::string &path);

    // For reading, the bytes of a file of the newest schema, which must outlive it. Errors name it so.
    static Database of_bytes(const std::string &name, std::string_view bytes);

    Database(Database &&) = default;
    ~Database();

    int64_t begin_session(const SessionKey &key, int64_t seed, const std::string &effort);

    // Makes a session that was aborted, or whose process has died, this process's own. Whether it was one: another
    // process may have been faster.
    bool resume_session(const StoredSession &session);

    // state is done or aborted. The noise floor is the A/A run's, as a ratio minus 1, where it was measured. `cut`
    // says why the session is done before its search, where it is.
    void end_session(int64_t session_id, SessionState state, std::optional<double> noise_floor,
                     const std::string &cut = "");

    // With its samples; a session has one trial of the same knobs and rows. An error ratio may be NaN, other
    // numbers may not; times must be above 0. The id of the trial.
    int64_t add_trial(int64_t session_id, const Trial &trial);

    // A trial has at most one sample of a block.
    void add_samples(int64_t trial_id, const std::vector<Sample> &samples);

    // For a trial that was ok when it was added and failed while it was timed. Its samples stay.
    void fail_trial(int64_t trial_id, TrialStatus status, const std::string &message);

    // All sessions, oldest first.
    std::vector<StoredSession> sessions() const;

    // A session's trials, oldest first, each with its samples by block; their ids too, where they are asked for.
    std::vector<Trial> trials(int64_t session_id, std::vector<int64_t> *ids = nullptr) const;

    // All of it, as of one moment.
    Evidence evidence();

    // Joins evidence with what is there: all of it or, where it throws, nothing. How many sessions were new or
    // changed.
    int64_t add(const Evidence &evidence);

    // Forgets sessions and what only they refer to, and gives the space back.
    void remove(const std::vector<int64_t> &session_ids);

private:
    explicit Database(SqliteConnection connection);

    SqliteConnection connection_;
};

}  // namespace normforge
