#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "autotune/base/enum_text.h"
#include "autotune/base/hardware.h"
#include "autotune/base/trial.h"
#include "autotune/database/sqlite.h"
#include "runtime/norm_problem.h"

namespace normforge {

// Versions of what kernels are made with.
struct Toolchain {
    std::string halide;
    std::string llvm;
    std::string normforge;

    bool operator==(const Toolchain &) const = default;
};

// What kernels are made by: hashes of the generators, which hold the maths, and of the schedules, which hold the
// space that is searched. Empty in sessions of files from before these were kept.
struct GeneratorVersion {
    std::string algorithm;
    std::string space;

    bool operator==(const GeneratorVersion &) const = default;
};

// What the results of a tuning session depend on. Results of another key are not comparable.
struct SessionKey {
    NormProblem problem;
    Hardware hardware;
    Toolchain toolchain;
    GeneratorVersion generator;
    std::string target;     // Halide's text of it
    std::string reference;  // the knobs of the schedule that all others are timed beside: the heuristic's
};

struct StoredSession {
    int64_t id;        // in this file
    std::string uuid;  // everywhere: 32 hexadecimal digits
    NormProblem problem;
    Hardware hardware;  // without features that this version does not know
    std::string hardware_signature;
    Toolchain toolchain;
    GeneratorVersion generator;
    std::string target;
    std::string reference;  // empty in an older file's session without trials
    int64_t seed;
    std::string effort;
    SessionState state;
    std::string started;  // UTC, "2026-01-31T12:34:56.789Z"
    std::string ended;    // empty while running
    std::optional<double> noise_floor;
};

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

    Database(Database &&) = default;
    ~Database();

    const std::string &path() const { return connection_.path(); }

    int64_t begin_session(const SessionKey &key, int64_t seed, const std::string &effort);

    // state is done or aborted. The noise floor is the A/A run's, as a ratio minus 1, where it was measured.
    void end_session(int64_t session_id, SessionState state, std::optional<double> noise_floor);

    // With its samples; a session has one trial of the same knobs and rows. An error ratio may be NaN, other
    // numbers may not; times must be above 0.
    int64_t add_trial(int64_t session_id, const Trial &trial);

    // A trial has at most one sample of a block.
    void add_samples(int64_t trial_id, const std::vector<Sample> &samples);

    // For a trial that was ok when it was added and failed while it was timed. Its samples stay.
    void fail_trial(int64_t trial_id, TrialStatus status, const std::string &message);

    // All sessions, oldest first.
    std::vector<StoredSession> sessions() const;

    // A session's trials, oldest first, each with its samples by block.
    std::vector<Trial> trials(int64_t session_id) const;

private:
    explicit Database(SqliteConnection connection);
    void insert_samples(int64_t trial_id, const std::vector<Sample> &samples);

    SqliteConnection connection_;
};

// The file that the environment variable NORMFORGE_DB names, else normforge/tuning.db in the user's folder for
// data: XDG_DATA_HOME or ~/.local/share. Throws UserError where the environment tells none of them.
std::string default_database_path();

}  // namespace normforge
