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

std::vector<Column> generator_row(const GeneratorVersion &generator) {
    return {{"algorithm", generator.algorithm}, {"space", generator.space}};
}

std::string select_sessions() {
    return fmt::format(
        "SELECT session.id, uuid, target, knobs, seed, effort, state, started, ended, noise_floor,"
        " halide, llvm, normforge, algorithm, space, signature, arch, vendor, model_name, family, model, stepping,"
        " features, l1d_bytes, l2_bytes, l3_bytes, line_bytes, usable_cores, {} "
        "FROM session JOIN hardware ON hardware.id = session.hardware"
        " JOIN toolchain ON toolchain.id = session.toolchain"
        " JOIN generator ON generator.id = session.generator"
        " JOIN problem ON problem.id = session.problem"
        " LEFT JOIN candidate ON candidate.id = session.reference ORDER BY started, uuid",
        column_list(problem_row(default_problem(NF_LAYER_NORM, 1)), "problem.{}", ", "));
}

// The current row of select_sessions.
StoredSession read_session(const SqliteStatement &row) {
    int column = 0;
    const auto integer = [&] { return row.integer(column++); };
    const auto text = [&] { return row.text(column++); };
    StoredSession session{};
    session.id = integer();
    session.uuid = text();
    session.target = text();
    session.reference = text();
    session.seed = integer();
    session.effort = text();
    session.state = value_named(kSessionStates, text());
    session.started = text();
    session.ended = text();
    if (!row.is_null(column)) {
        session.noise_floor = row.real(column);
    }
    column++;
    session.toolchain = {text(), text(), text()};
    session.generator = {text(), text()};
    session.hardware_signature = text();
    Hardware &hardware = session.hardware;
    hardware.arch = text();
    hardware.vendor = text();
    hardware.model_name = text();
    hardware.family = integer();
    hardware.model = integer();
    hardware.stepping = integer();
    hardware.features = known_features(text());
    hardware.l1d_bytes = integer();
    hardware.l2_bytes = integer();
    hardware.l3_bytes = integer();
    hardware.line_bytes = integer();
    hardware.usable_cores = integer();
    session.problem = read_problem(row, column);
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
        migrate(connection);
    }
    return Database(std::move(connection));
}

int64_t Database::begin_session(const SessionKey &key, int64_t seed, const std::string &effort) {
    SqliteTransaction transaction(connection_);
    SqliteStatement insert(connection_,
                           fmt::format("INSERT INTO session (hardware, toolchain, generator, problem, target,"
                                       " reference, seed, effort, state, started)"
                                       " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, {})",
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

std::vector<StoredSession> Database::sessions() const {
    SqliteStatement select(connection_, select_sessions());
    std::vector<StoredSession> sessions;
    while (select.step()) {
        sessions.push_back(read_session(select));
    }
    return sessions;
}

std::vector<Trial> Database::trials(int64_t session_id) const {
    SqliteStatement select(connection_, "SELECT trial.id, rows, knobs, status, message, object_hash, code_hash,"
                                        " output_digest, error_ratio, code_bytes, compile_ms "
                                        "FROM artifact JOIN trial ON trial.artifact = artifact.id"
                                        " JOIN candidate ON candidate.id = artifact.candidate WHERE session = ?"
                                        " ORDER BY created, knobs, rows");
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
        trial.code_hash = select.text(6);
        trial.output_digest = select.text(7);
        trial.error_ratio = select.real(8);
        trial.code_bytes = select.integer(9);
        trial.compile_ms = select.real(10);
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
