#include "autotune/database/migrations.h"

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <span>

#include "autotune/base/content_hash.h"
#include "autotune/base/enum_text.h"
#include "autotune/database/table_row.h"

namespace normforge {

namespace {

// The texts of enumerations that a later version will hardly extend are checked; a problem's fields and the effort
// are not, since SQLite cannot change a check without copying the table.
std::string with_names(const char *sql) {
    return fmt::format(fmt::runtime(sql), fmt::arg("session_states", names_of(kSessionStates, "'")),
                       fmt::arg("running", name_of(kSessionStates, SessionState::running)),
                       fmt::arg("trial_statuses", names_of(kTrialStatuses, "'")));
}

void version_1(SqliteConnection &connection) {
    connection.execute(with_names(R"sql(
        CREATE TABLE hardware (
            id INTEGER PRIMARY KEY,
            signature TEXT NOT NULL,
            arch TEXT NOT NULL,
            vendor TEXT NOT NULL,
            model_name TEXT NOT NULL,
            family INTEGER NOT NULL,
            model INTEGER NOT NULL,
            stepping INTEGER NOT NULL,
            features TEXT NOT NULL,
            l1d_bytes INTEGER NOT NULL,
            l2_bytes INTEGER NOT NULL,
            l3_bytes INTEGER NOT NULL,
            line_bytes INTEGER NOT NULL,
            usable_cores INTEGER NOT NULL,
            UNIQUE (signature, arch, vendor, model_name, family, model, stepping, features, l1d_bytes, l2_bytes,
                    l3_bytes, line_bytes, usable_cores)
        ) STRICT;

        CREATE TABLE toolchain (
            id INTEGER PRIMARY KEY,
            halide TEXT NOT NULL,
            llvm TEXT NOT NULL,
            normforge TEXT NOT NULL,
            UNIQUE (halide, llvm, normforge)
        ) STRICT;

        CREATE TABLE session (
            id INTEGER PRIMARY KEY,
            hardware INTEGER NOT NULL REFERENCES hardware,
            toolchain INTEGER NOT NULL REFERENCES toolchain,
            problem INTEGER NOT NULL REFERENCES problem,
            target TEXT NOT NULL,
            seed INTEGER NOT NULL,
            effort TEXT NOT NULL,
            started TEXT NOT NULL,
            ended TEXT,
            state TEXT NOT NULL CHECK (state IN ({session_states})),
            noise_floor REAL,
            CHECK ((state = '{running}') = (ended IS NULL))
        ) STRICT;
        CREATE INDEX session_lookup ON session (problem, target, state);

        CREATE TABLE trial (
            id INTEGER PRIMARY KEY,
            session INTEGER NOT NULL REFERENCES session,
            rows INTEGER NOT NULL CHECK (rows > 0),
            knobs TEXT NOT NULL,
            status TEXT NOT NULL CHECK (status IN ({trial_statuses})),
            message TEXT NOT NULL,
            object_hash TEXT NOT NULL,
            output_digest TEXT NOT NULL,
            error_ratio REAL,
            code_bytes INTEGER NOT NULL,
            compile_ms REAL NOT NULL,
            created TEXT NOT NULL
        ) STRICT;
        CREATE INDEX trial_session ON trial (session);

        CREATE TABLE sample (
            trial INTEGER NOT NULL REFERENCES trial,
            block INTEGER NOT NULL,
            position INTEGER NOT NULL,
            calls INTEGER NOT NULL CHECK (calls > 0),
            ns REAL NOT NULL CHECK (ns > 0),
            reference_ns REAL NOT NULL CHECK (reference_ns > 0),
            PRIMARY KEY (trial, block)
        ) STRICT, WITHOUT ROWID;
    )sql"));
}

// New fields of problems alone.
void version_2(SqliteConnection &) {}

// Ids for the sessions of older files, equal in all copies of a file.
void identify_sessions(SqliteConnection &connection) {
    SqliteStatement select(connection,
                           "SELECT old_session.id, signature, halide, llvm, normforge, op, dtype, weight,"
                           " bias, hidden, target, seed, effort, started "
                           "FROM old_session JOIN hardware ON hardware.id = hardware"
                           " JOIN toolchain ON toolchain.id = toolchain"
                           " JOIN problem ON problem.id = problem ORDER BY old_session.id");
    SqliteStatement insert(connection, "INSERT INTO session_uuid (session, uuid) VALUES (?, ?)");
    std::map<std::string, int> seen;
    while (select.step()) {
        std::string key;
        for (int column = 1; column <= 13; column++) {
            key += select.text(column) + "\n";
        }
        key += std::to_string(seen[key]++);
        insert.bind(select.integer(0)).bind(content_hash(std::as_bytes(std::span(key)))).run();
    }
}

// What a compile gave, apart from how it ran, and what is the same in many sessions.
void version_3(SqliteConnection &connection) {
    connection.execute(R"sql(
        DROP INDEX session_lookup;
        DROP INDEX trial_session;
        ALTER TABLE session RENAME TO old_session;
        ALTER TABLE trial RENAME TO old_trial;
        ALTER TABLE sample RENAME TO old_sample;
        CREATE TEMP TABLE session_uuid (session INTEGER PRIMARY KEY, uuid TEXT NOT NULL) STRICT;
    )sql");
    identify_sessions(connection);
    connection.execute(with_names(R"sql(
        CREATE TABLE generator (
            id INTEGER PRIMARY KEY,
            algorithm TEXT NOT NULL,
            space TEXT NOT NULL,
            UNIQUE (algorithm, space)
        ) STRICT;
        INSERT INTO generator (algorithm, space) SELECT '', '' FROM old_session LIMIT 1;

        CREATE TABLE candidate (
            id INTEGER PRIMARY KEY,
            knobs TEXT NOT NULL UNIQUE
        ) STRICT;
        INSERT INTO candidate (knobs) SELECT knobs FROM old_trial GROUP BY knobs ORDER BY min(id);

        CREATE TABLE session (
            id INTEGER PRIMARY KEY,
            uuid TEXT NOT NULL UNIQUE DEFAULT (lower(hex(randomblob(16)))),
            hardware INTEGER NOT NULL REFERENCES hardware,
            toolchain INTEGER NOT NULL REFERENCES toolchain,
            generator INTEGER NOT NULL REFERENCES generator,
            problem INTEGER NOT NULL REFERENCES problem,
            target TEXT NOT NULL,
            reference INTEGER REFERENCES candidate,
            seed INTEGER NOT NULL,
            effort TEXT NOT NULL,
            started TEXT NOT NULL,
            ended TEXT,
            state TEXT NOT NULL CHECK (state IN ({session_states})),
            noise_floor REAL,
            CHECK ((state = '{running}') = (ended IS NULL))
        ) STRICT;
        INSERT INTO session SELECT id, uuid, hardware, toolchain, (SELECT id FROM generator), problem, target,
            (SELECT candidate.id FROM old_trial JOIN candidate USING (knobs)
             WHERE old_trial.session = old_session.id ORDER BY old_trial.id LIMIT 1),
            seed, effort, started, ended, state, noise_floor
            FROM old_session JOIN session_uuid ON session_uuid.session = old_session.id;

        CREATE TABLE artifact (
            id INTEGER PRIMARY KEY,
            session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
            candidate INTEGER NOT NULL REFERENCES candidate,
            object_hash TEXT NOT NULL,
            code_hash TEXT NOT NULL,
            code_bytes INTEGER NOT NULL,
            compile_ms REAL NOT NULL,
            UNIQUE (session, candidate)
        ) STRICT;
        INSERT INTO artifact (session, candidate, object_hash, code_hash, code_bytes, compile_ms)
            SELECT session, candidate.id, object_hash, '', code_bytes, compile_ms
            FROM old_trial JOIN candidate USING (knobs)
            GROUP BY session, candidate.id, object_hash, code_bytes, compile_ms ORDER BY min(old_trial.id);

        CREATE TABLE trial (
            id INTEGER PRIMARY KEY,
            artifact INTEGER NOT NULL REFERENCES artifact ON DELETE CASCADE,
            rows INTEGER NOT NULL CHECK (rows > 0),
            status TEXT NOT NULL CHECK (status IN ({trial_statuses})),
            message TEXT NOT NULL,
            output_digest TEXT NOT NULL,
            error_ratio REAL,
            created TEXT NOT NULL,
            UNIQUE (artifact, rows)
        ) STRICT;
        INSERT INTO trial
            SELECT old_trial.id, artifact.id, rows, status, message, output_digest, error_ratio, created
            FROM old_trial JOIN candidate USING (knobs)
            JOIN artifact ON artifact.session = old_trial.session AND artifact.candidate = candidate.id;

        CREATE TABLE sample (
            trial INTEGER NOT NULL REFERENCES trial ON DELETE CASCADE,
            block INTEGER NOT NULL,
            position INTEGER NOT NULL,
            calls INTEGER NOT NULL CHECK (calls > 0),
            ns REAL NOT NULL CHECK (ns > 0),
            reference_ns REAL NOT NULL CHECK (reference_ns > 0),
            PRIMARY KEY (trial, block)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO sample SELECT * FROM old_sample;

        DROP TABLE session_uuid;
        DROP TABLE old_sample;
        DROP TABLE old_trial;
        DROP TABLE old_session;
    )sql"));
}

// Where times are from, who measures, so that a dead process's session is known, and why a session ended before
// its search did.
void version_4(SqliteConnection &connection) {
    connection.execute(
        fmt::format("ALTER TABLE session ADD COLUMN source TEXT NOT NULL DEFAULT '{}' CHECK (source IN ({}));"
                    "ALTER TABLE session ADD COLUMN process TEXT;"
                    "ALTER TABLE session ADD COLUMN cut TEXT",
                    name_of(kTimeSources, TimeSource::measured), names_of(kTimeSources, "'")));
}

// Entry i takes a file from version i to i + 1. Files of all versions exist, so entries are only ever added. A new
// field of NormProblem needs one too, be it empty: its column comes from complete_problem_table.
using Migration = void (*)(SqliteConnection &);
constexpr Migration kMigrations[] = {version_1, version_2, version_3, version_4};

// Gives the problem table, new or old, a column for each field that it lacks. Rows from before get
// default_problem's value, which must be what a problem meant before it had the field.
void complete_problem_table(SqliteConnection &connection) {
    connection.execute("CREATE TABLE IF NOT EXISTS problem (id INTEGER PRIMARY KEY) STRICT");
    const std::vector<Column> row = problem_row(default_problem(NF_LAYER_NORM, 1));
    SqliteStatement known(connection, "SELECT 1 FROM pragma_table_info('problem') WHERE name = ?");
    for (const Column &column : row) {
        const bool exists = known.bind(column.name).step();
        known.reset();
        if (!exists) {
            const auto *text = std::get_if<std::string>(&column.value);
            connection.execute(text ? fmt::format("ALTER TABLE problem ADD COLUMN {} TEXT NOT NULL DEFAULT '{}'",
                                                  column.name, *text)
                                    : fmt::format("ALTER TABLE problem ADD COLUMN {} INTEGER NOT NULL DEFAULT {}",
                                                  column.name, std::get<int64_t>(column.value)));
        }
    }
    connection.execute(fmt::format("DROP INDEX IF EXISTS problem_fields;"
                                   "CREATE UNIQUE INDEX problem_fields ON problem ({})",
                                   column_list(row, "{}", ", ")));
}

}  // namespace

int64_t schema_version() {
    return std::size(kMigrations);
}

void migrate_tables(SqliteConnection &connection, int64_t from, int64_t to) {
    complete_problem_table(connection);
    for (int64_t version = from; version < to; version++) {
        kMigrations[version](connection);
    }
}

}  // namespace normforge
