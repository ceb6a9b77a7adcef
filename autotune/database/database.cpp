#include "autotune/database/database.h"

#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <system_error>

#include "autotune/base/process_identity.h"
#include "autotune/database/file_system.h"
#include "autotune/database/sample_rows.h"
#include "autotune/database/schema.h"
#include "autotune/database/session_rows.h"
#include "autotune/database/table_row.h"

namespace normforge {

namespace {

constexpr const char *kNow = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')";

SqliteValue text_or_null(const std::string &text) {
    return text.empty() ? SqliteValue() : SqliteValue(text);
}

void refuse_folder(const std::string &path) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
        throw DatabaseError(path, "it is a folder; give the file in it, or a new name");
    }
}

}  // namespace

Database::Database(SqliteConnection connection) : connection_(std::move(connection)) {}

Database::~Database() {
    if (connection_.is_writable()) {
        leave_schema(connection_);
    }
}

Database Database::open(const std::string &path) {
    if (path.empty()) {
        throw UserError("the tuning database needs the name of a file");
    }
    refuse_folder(path);
    // Absolute, so that SQLite takes no name for anything but a file.
    const std::filesystem::path file = std::filesystem::absolute(path);
    std::error_code error;
    std::filesystem::create_directories(file.parent_path(), error);
    if (error) {
        throw DatabaseError(path, fmt::format("cannot make its folder: {}", error.message()));
    }
    SqliteConnection connection(file, SqliteConnection::Mode::read_write);
    open_schema(connection, is_network_file_system(file_system_type(file)));
    return Database(std::move(connection));
}

Database Database::open_read_only(const std::string &path) {
    std::error_code error;
    if (!std::filesystem::exists(path, error) && !error) {
        throw DatabaseError(path, "there is no such file");
    }
    refuse_folder(path);
    const std::string file = std::filesystem::absolute(path);
    SqliteConnection connection(file, is_immutable(file) ? SqliteConnection::Mode::immutable
                                                         : SqliteConnection::Mode::read_only);
    if (!check_schema(connection)) {
        connection = connection.copy_in_memory();
        migrate(connection, schema_version());
    }
    return Database(std::move(connection));
}

Database Database::of_bytes(const std::string &name, std::string_view bytes) {
    SqliteConnection connection = SqliteConnection::of_bytes(name, bytes);
    if (!check_schema(connection)) {
        throw DatabaseError(name, "it is of an older schema");
    }
    return Database(std::move(connection));
}

int64_t Database::begin_session(const SessionKey &key, int64_t seed, const std::string &effort) {
    SqliteTransaction transaction(connection_);
    SqliteStatement insert(connection_,
                           fmt::format("INSERT INTO session (hardware, toolchain, generator, problem, target,"
                                       " reference, seed, effort, state, source, process, started)"
                                       " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, {})",
                                       kNow));
    insert.bind(find_or_insert(connection_, "hardware", hardware_row(key.hardware)))
        .bind(find_or_insert(connection_, "toolchain", toolchain_row(key.toolchain)))
        .bind(find_or_insert(connection_, "generator", generator_row(key.generator)))
        .bind(find_or_insert(connection_, "problem", problem_row(key.problem)))
        .bind(key.target)
        .bind_value(key.reference.empty() ? SqliteValue()
                                          : find_or_insert(connection_, "candidate", {{"knobs", key.reference}}))
        .bind(seed)
        .bind(effort)
        .bind(name_of(kSessionStates, SessionState::running))
        .bind(name_of(kTimeSources, key.source))
        .bind(process_identity())
        .run();
    const int64_t id = connection_.last_insert_id();
    transaction.commit();
    return id;
}

bool Database::resume_session(const StoredSession &session) {
    if (session.state == SessionState::done ||
        (session.state == SessionState::running && !has_ended(session.process))) {
        return false;
    }
    SqliteStatement update(connection_, "UPDATE session SET state = ?, ended = NULL, process = ?"
                                        " WHERE id = ? AND state = ? AND process IS ?");
    update.bind(name_of(kSessionStates, SessionState::running))
        .bind(process_identity())
        .bind(session.id)
        .bind(name_of(kSessionStates, session.state))
        .bind_value(text_or_null(session.process))
        .run();
    return connection_.changed_rows() == 1;
}

void Database::end_session(int64_t session_id, SessionState state, std::optional<double> noise_floor,
                           const std::string &cut) {
    SqliteStatement update(connection_,
                           fmt::format("UPDATE session SET state = ?, noise_floor = ?, cut = ?, process = NULL,"
                                       " ended = {} WHERE id = ? AND ended IS NULL",
                                       kNow));
    update.bind(name_of(kSessionStates, state))
        .bind(noise_floor.value_or(std::numeric_limits<double>::quiet_NaN()))
        .bind_value(text_or_null(cut))
        .bind(session_id)
        .run();
    if (connection_.changed_rows() == 0) {
        throw DatabaseError(connection_.path(), fmt::format("session {} is not running", session_id));
    }
}

int64_t Database::add_trial(int64_t session_id, const Trial &trial) {
    SqliteTransaction transaction(connection_);
    const int64_t candidate = find_or_insert(connection_, "candidate", {{"knobs", trial.knobs}});
    const int64_t artifact = find_or_insert(connection_, "artifact",
                                            {{"session", session_id},
                                             {"candidate", candidate},
                                             {"object_hash", trial.object_hash},
                                             {"code_hash", trial.code_hash},
                                             {"code_bytes", trial.code_bytes},
                                             {"compile_ms", trial.compile_ms}});
    SqliteStatement insert(connection_,
                           fmt::format("INSERT INTO trial (artifact, rows, status, message, output_digest,"
                                       " error_ratio, created) VALUES (?, ?, ?, ?, ?, ?, {})",
                                       kNow));
    insert.bind(artifact)
        .bind(trial.rows)
        .bind(name_of(kTrialStatuses, trial.status))
        .bind(trial.message)
        .bind(trial.output_digest)
        .bind(trial.error_ratio)
        .run();
    const int64_t id = connection_.last_insert_id();
    insert_samples(connection_, id, trial.samples);
    transaction.commit();
    return id;
}

void Database::add_samples(int64_t trial_id, const std::vector<Sample> &samples) {
    SqliteTransaction transaction(connection_);
    insert_samples(connection_, trial_id, samples);
    transaction.commit();
}

void Database::fail_trial(int64_t trial_id, TrialStatus status, const std::string &message) {
    SqliteStatement update(connection_, "UPDATE trial SET status = ?, message = ? WHERE id = ?");
    update.bind(name_of(kTrialStatuses, status)).bind(message).bind(trial_id).run();
    if (connection_.changed_rows() == 0) {
        throw DatabaseError(connection_.path(), fmt::format("there is no trial {}", trial_id));
    }
}

Evidence Database::evidence() {
    SqliteTransaction transaction(connection_, SqliteTransaction::Kind::reading);
    return read_evidence(connection_);
}

int64_t Database::add(const Evidence &evidence) {
    SqliteTransaction transaction(connection_);
    const int64_t changed = add_evidence(connection_, evidence);
    transaction.commit();
    return changed;
}

void Database::remove(const std::vector<int64_t> &session_ids) {
    SqliteTransaction transaction(connection_);
    SqliteStatement remove_session(connection_, "DELETE FROM session WHERE id = ?");
    for (const int64_t id : session_ids) {
        remove_session.bind(id).run();
    }
    for (const char *table : {"hardware", "toolchain", "generator", "problem"}) {
        connection_.execute(fmt::format("DELETE FROM {0} WHERE id NOT IN (SELECT {0} FROM session)", table));
    }
    connection_.execute("DELETE FROM candidate WHERE id NOT IN (SELECT candidate FROM artifact)"
                        " AND id NOT IN (SELECT reference FROM session WHERE reference IS NOT NULL)");
    transaction.commit();
    try {
        connection_.execute("VACUUM");
    } catch (const DatabaseBusy &) {
        // Others have it open. The space is free for what they write.
    }
}

std::vector<StoredSession> Database::sessions() const {
    return read_sessions(connection_);
}

std::vector<Trial> Database::trials(int64_t session_id, std::vector<int64_t> *ids) const {
    SqliteStatement select(connection_, "SELECT trial.id, rows, knobs, status, message, object_hash, code_hash,"
                                        " output_digest, error_ratio, code_bytes, compile_ms "
                                        "FROM artifact JOIN trial ON trial.artifact = artifact.id"
                                        " JOIN candidate ON candidate.id = artifact.candidate WHERE session = ?"
                                        " ORDER BY created, knobs, rows");
    select.bind(session_id);
    SampleReader samples(connection_);
    std::vector<Trial> trials;
    while (select.step()) {
        Trial &trial = trials.emplace_back();
        trial.rows = select.integer(1);
        trial.knobs = select.text(2);
        trial.status = value_named(kTrialStatuses, select.text(3));
        trial.message = select.text(4);
        trial.object_hash = select.text(5);
        trial.code_hash = select.text(6);
        trial.output_digest = select.text(7);
        trial.error_ratio = select.real(8);
        trial.code_bytes = select.integer(9);
        trial.compile_ms = select.real(10);
        const int64_t id = select.integer(0);
        trial.samples = samples.read(id);
        if (ids) {
            ids->push_back(id);
        }
    }
    return trials;
}

}  // namespace normforge
