#include "autotune/database/database.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <limits>
#include <system_error>

#include "autotune/database/file_system.h"
#include "autotune/database/schema.h"
#include "autotune/database/table_row.h"

namespace normforge {

namespace {

constexpr const char *kNow = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')";

std::vector<Column> hardware_row(const Hardware &hardware) {
    return {
        {"signature", signature(hardware)},
        {"arch", hardware.arch},
        {"vendor", hardware.vendor},
        {"model_name", hardware.model_name},
        {"family", hardware.family},
        {"model", hardware.model},
        {"stepping", hardware.stepping},
        {"features", feature_names(hardware.features)},
        {"l1d_bytes", hardware.l1d_bytes},
        {"l2_bytes", hardware.l2_bytes},
        {"l3_bytes", hardware.l3_bytes},
        {"line_bytes", hardware.line_bytes},
        {"usable_cores", hardware.usable_cores},
    };
}

std::vector<Column> toolchain_row(const Toolchain &toolchain) {
    return {{"halide", toolchain.halide}, {"llvm", toolchain.llvm}, {"normforge", toolchain.normforge}};
}

std::string select_sessions(const std::string &condition) {
    return fmt::format("SELECT session.id, signature, model_name, halide, llvm, normforge, target, seed, effort,"
                       " state, started, ended, noise_floor, {} "
                       "FROM session JOIN hardware ON hardware.id = session.hardware"
                       " JOIN toolchain ON toolchain.id = session.toolchain"
                       " JOIN problem ON problem.id = session.problem {}",
                       column_list(problem_row(default_problem(NF_LAYER_NORM, 1)), "problem.{}", ", "), condition);
}

// The current row of select_sessions.
StoredSession read_session(const SqliteStatement &row) {
    StoredSession session{};
    session.id = row.integer(0);
    session.hardware_signature = row.text(1);
    session.model_name = row.text(2);
    session.toolchain = {row.text(3), row.text(4), row.text(5)};
    session.target = row.text(6);
    session.seed = row.integer(7);
    session.effort = row.text(8);
    session.state = value_named(kSessionStates, row.text(9));
    session.started = row.text(10);
    session.ended = row.text(11);
    if (!row.is_null(12)) {
        session.noise_floor = row.real(12);
    }
    session.problem = read_problem(row, 13);
    return session;
}

std::string folder_of_user_data() {
    const auto variable = [](const char *name) {
        const char *value = std::getenv(name);
        return std::string(value ? value : "");
    };
    // A relative XDG_DATA_HOME is to be ignored, says its specification.
    if (const std::string data = variable("XDG_DATA_HOME"); data.starts_with('/')) {
        return data;
    }
    if (const std::string home = variable("HOME"); !home.empty()) {
        return home + "/.local/share";
    }
    throw UserError("no place for the tuning database: set NORMFORGE_DB to a file, or XDG_DATA_HOME or HOME to a "
                    "folder");
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
    SqliteConnection connection(std::filesystem::absolute(path), SqliteConnection::Mode::read_only);
    check_schema(connection);
    return Database(std::move(connection));
}

int64_t Database::begin_session(const SessionKey &key, int64_t seed, const std::string &effort) {
    SqliteTransaction transaction(connection_);
    SqliteStatement insert(connection_,
                           fmt::format("INSERT INTO session (hardware, toolchain, problem, target, seed, effort,"
                                       " state, started) VALUES (?, ?, ?, ?, ?, ?, ?, {})",
                                       kNow));
    insert.bind(find_or_insert(connection_, "hardware", hardware_row(key.hardware)))
        .bind(find_or_insert(connection_, "toolchain", toolchain_row(key.toolchain)))
        .bind(find_or_insert(connection_, "problem", problem_row(key.problem)))
        .bind(key.target)
        .bind(seed)
        .bind(effort)
        .bind(name_of(kSessionStates, SessionState::running))
        .run();
    const int64_t id = connection_.last_insert_id();
    transaction.commit();
    return id;
}

void Database::end_session(int64_t session_id, SessionState state, std::optional<double> noise_floor) {
    SqliteStatement update(
        connection_,
        fmt::format("UPDATE session SET state = ?, noise_floor = ?, ended = {} WHERE id = ? AND ended IS NULL",
                    kNow));
    update.bind(name_of(kSessionStates, state))
        .bind(noise_floor.value_or(std::numeric_limits<double>::quiet_NaN()))
        .bind(session_id)
        .run();
    if (connection_.changed_rows() == 0) {
        throw DatabaseError(connection_.path(), fmt::format("session {} is not running", session_id));
    }
}

int64_t Database::add_trial(int64_t session_id, const Trial &trial) {
    SqliteTransaction transaction(connection_);
    SqliteStatement insert(connection_,
                           fmt::format("INSERT INTO trial (session, rows, knobs, status, message, object_hash,"
                                       " output_digest, error_ratio, code_bytes, compile_ms, created)"
                                       " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, {})",
                                       kNow));
    insert.bind(session_id)
        .bind(trial.rows)
        .bind(trial.knobs)
        .bind(name_of(kTrialStatuses, trial.status))
        .bind(trial.message)
        .bind(trial.object_hash)
        .bind(trial.output_digest)
        .bind(trial.error_ratio)
        .bind(trial.code_bytes)
        .bind(trial.compile_ms)
        .run();
    const int64_t id = connection_.last_insert_id();
    insert_samples(id, trial.samples);
    transaction.commit();
    return id;
}

void Database::add_samples(int64_t trial_id, const std::vector<Sample> &samples) {
    SqliteTransaction transaction(connection_);
    insert_samples(trial_id, samples);
    transaction.commit();
}

void Database::fail_trial(int64_t trial_id, TrialStatus status, const std::string &message) {
    SqliteStatement update(connection_, "UPDATE trial SET status = ?, message = ? WHERE id = ?");
    update.bind(name_of(kTrialStatuses, status)).bind(message).bind(trial_id).run();
    if (connection_.changed_rows() == 0) {
        throw DatabaseError(connection_.path(), fmt::format("there is no trial {}", trial_id));
    }
}

void Database::insert_samples(int64_t trial_id, const std::vector<Sample> &samples) {
    SqliteStatement insert(connection_, "INSERT INTO sample (trial, block, position, calls, ns, reference_ns)"
                                        " VALUES (?, ?, ?, ?, ?, ?)");
    for (const Sample &sample : samples) {
        insert.bind(trial_id)
            .bind(sample.block)
            .bind(sample.position)
            .bind(sample.calls)
            .bind(sample.ns)
            .bind(sample.reference_ns)
            .run();
    }
}

std::optional<StoredSession> Database::latest_session(const NormProblem &problem,
                                                      const std::string &hardware_signature,
                                                      const std::string &target) const {
    const std::vector<Column> row = problem_row(problem);
    SqliteStatement select(connection_,
                           select_sessions(fmt::format("WHERE {} AND signature = ? AND target = ? AND state = ?"
                                                       " ORDER BY ended DESC, session.id DESC LIMIT 1",
                                                       column_list(row, "problem.{} = ?", " AND "))));
    bind_row(select, row);
    select.bind(hardware_signature).bind(target).bind(name_of(kSessionStates, SessionState::done));
    return select.step() ? std::optional(read_session(select)) : std::nullopt;
}

std::vector<StoredSession> Database::sessions() const {
    SqliteStatement select(connection_, select_sessions("ORDER BY started, session.id"));
    std::vector<StoredSession> sessions;
    while (select.step()) {
        sessions.push_back(read_session(select));
    }
    return sessions;
}

std::vector<Trial> Database::trials(int64_t session_id) const {
    SqliteStatement select(connection_, "SELECT id, rows, knobs, status, message, object_hash, output_digest,"
                                        " error_ratio, code_bytes, compile_ms FROM trial WHERE session = ?"
                                        " ORDER BY id");
    SqliteStatement select_samples(connection_, "SELECT block, position, calls, ns, reference_ns FROM sample"
                                                " WHERE trial = ? ORDER BY block");
    select.bind(session_id);
    std::vector<Trial> trials;
    while (select.step()) {
        Trial &trial = trials.emplace_back();
        trial.rows = select.integer(1);
        trial.knobs = select.text(2);
        trial.status = value_named(kTrialStatuses, select.text(3));
        trial.message = select.text(4);
        trial.object_hash = select.text(5);
        trial.output_digest = select.text(6);
        trial.error_ratio = select.real(7);
        trial.code_bytes = select.integer(8);
        trial.compile_ms = select.real(9);
        select_samples.bind(select.integer(0));
        while (select_samples.step()) {
            Sample &sample = trial.samples.emplace_back();
            sample.block = static_cast<int>(select_samples.integer(0));
            sample.position = static_cast<int>(select_samples.integer(1));
            sample.calls = select_samples.integer(2);
            sample.ns = select_samples.real(3);
            sample.reference_ns = select_samples.real(4);
        }
        select_samples.reset();
    }
    return trials;
}

std::string default_database_path() {
    if (const char *file = std::getenv("NORMFORGE_DB"); file && *file) {
        return file;
    }
    return folder_of_user_data() + "/normforge/tuning.db";
}

}  // namespace normforge
