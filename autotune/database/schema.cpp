#include "autotune/database/schema.h"

#include <fmt/format.h>

#include "autotune/database/migrations.h"

namespace normforge {

namespace {

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

}  // namespace

void migrate(SqliteConnection &connection, int64_t schema) {
    SqliteTransaction transaction(connection);
    // Again, under the lock: another process may have been faster.
    migrate_tables(connection, checked_version(connection), schema);
    connection.execute(
        fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, schema));
    transaction.commit();
}

void open_schema(SqliteConnection &connection, bool on_network) {
    connection.set_checkpoint_on_close(false);  // would write to a file that is refused
    const int64_t version = checked_version(connection);
    connection.set_checkpoint_on_close(true);
    set_journal(connection, on_network);
    if (version < schema_version()) {
        migrate(connection, schema_version());
    }
    connection.execute("PRAGMA foreign_keys = ON");
}

bool check_schema(const SqliteConnection &connection) {
    return checked_version(connection) == schema_version();
}

SqliteConnection empty_database(int64_t schema) {
    SqliteConnection connection(":memory:", SqliteConnection::Mode::read_write);
    migrate(connection, schema);
    return connection;
}

void leave_schema(SqliteConnection &connection) {
    try {
        connection.execute("PRAGMA journal_mode = DELETE");
    } catch (const DatabaseError &) {
        // The file has other users, the last of which will do this; or it is beyond use, which a write has told.
    }
}

}  // namespace normforge
