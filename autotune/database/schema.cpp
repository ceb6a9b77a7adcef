#include "autotune/database/schema.h"

#include <fmt/format.h>

#include <iterator>

#include "autotune/base/enum_text.h"
#include "autotune/database/table_row.h"

namespace normforge {

namespace {

// The texts of enumerations that a later version will hardly extend are checked; a problem's fields and the effort
// are not, since SQLite cannot change a check without copying the table.
std::string version_1() {
    return fmt::format(R"sql(
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
    )sql",
                       fmt::arg("session_states", names_of(kSessionStates, "'")),
                       fmt::arg("running", name_of(kSessionStates, SessionState::running)),
                       fmt::arg("trial_statuses", names_of(kTrialStatuses, "'")));
}

// Entry i is the SQL that takes a file from version i to i + 1. Files of all versions exist, so entries are only
// ever added. A new field of NormProblem needs one too, be it empty: its column comes from complete_problem_table.
using Migration = std::string (*)();
constexpr Migration kMigrations[] = {version_1, [] { return std::string(); }};

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

// The file's version; 0 for an empty one.
int64_t checked_version(const SqliteConnection &connection) {
    // One statement, so one state of the file.
    SqliteStatement statement(connection, "SELECT (SELECT application_id FROM pragma_application_id),"
                                          " (SELECT user_version FROM pragma_user_version),"
                                          " (SELECT count(*) FROM sqlite_schema)");
    statement.step();
    const int64_t application = statement.integer(0);
    const int64_t version = statement.integer(1);
    const bool fresh = application == 0 && version == 0 && statement.integer(2) == 0;
    if (application != kApplicationId && !fresh) {
        throw DatabaseError(connection.path(), "belongs to another application; give another file");
    }
    if (version > schema_version()) {
        throw DatabaseError(
            connection.path(),
            fmt::format("written by a newer normforge (schema {}; this one knows up to {}); update "
                        "normforge or give another file",
                        version, schema_version()));
    }
    return version;
}

void set_journal(SqliteConnection &connection, bool on_network) {
    try {
        connection.execute(on_network ? "PRAGMA journal_mode = DELETE" : "PRAGMA journal_mode = WAL");
    } catch (const DatabaseBusy &) {
        // Others are at work with the other kind of journal. It is as safe, so this connection joins them.
    }
    const bool has_log = connection.query_text("PRAGMA journal_mode") == "wal";
    connection.execute(has_log ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = FULL");
}

void migrate(SqliteConnection &connection) {
    SqliteTransaction transaction(connection);
    // Again, under the lock: another process may have been faster.
    for (int64_t version = checked_version(connection); version < schema_version(); ++version) {
        connection.execute(kMigrations[version]());
    }
    complete_problem_table(connection);
    connection.execute(
        fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, schema_version()));
    transaction.commit();
}

}  // namespace

int64_t schema_version() {
    return std::size(kMigrations);
}

void open_schema(SqliteConnection &connection, bool on_network) {
    connection.set_checkpoint_on_close(false);  // would write to a file that is refused
    const int64_t version = checked_version(connection);
    connection.set_checkpoint_on_close(true);
    set_journal(connection, on_network);
    if (version < schema_version()) {
        migrate(connection);
    }
    connection.execute("PRAGMA foreign_keys = ON");
}

void check_schema(const SqliteConnection &connection) {
    if (const int64_t version = checked_version(connection); version < schema_version()) {
        throw DatabaseOutdated(connection.path(),
                               fmt::format("an older or empty file (schema {}, now {}); tune with it "
                                           "once to bring it up to date",
                                           version, schema_version()));
    }
}

void leave_schema(SqliteConnection &connection) {
    try {
        connection.execute("PRAGMA journal_mode = DELETE");
    } catch (const DatabaseError &) {
        // The file has other users, the last of which will do this; or it is beyond use, which a write has told.
    }
}

}  // namespace normforge
