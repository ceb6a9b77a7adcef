#pragma once

#include <cstdint>

#include "autotune/database/migrations.h"

namespace normforge {

// How the tables of a tuning database came to be. Each file says that it is one by its application_id, and how new
// its tables are by its user_version.

inline constexpr int32_t kApplicationId = 0x4e466462;  // "NFdb"

// Makes a file that is open for writing ready for use: an empty one gets its tables, an older one those it lacks.
// Throws DatabaseError, having written nothing, for one that is no database, another application's, or of a newer
// schema.
//
// The journal is a write-ahead log, with which readers and a writer do not wait for each other. It needs memory
// shared by all users of the file, so not on_network: there it is SQLite's rollback journal. A commit outlives the
// death of the process at any moment. With the log, a power failure may undo the last commits, whole; it never
// harms the file.
void open_schema(SqliteConnection &connection, bool on_network);

// The same checks for a file that is open for reading. Whether it is of the newest schema.
bool check_schema(const SqliteConnection &connection);

// Brings a file to a schema that is newer than its own, or makes an empty one's tables.
void migrate(SqliteConnection &connection, int64_t schema);

// One in memory, with tables and nothing in them.
SqliteConnection empty_database(int64_t schema);

// To be called before a connection of open_schema is closed. Gives up the write-ahead log if nobody else has the
// file open, so that a file at rest is one file, which a user without permission to write its folder can read.
// When two processes close at the same moment both may find the other there; the next one then does it.
void leave_schema(SqliteConnection &connection);

}  // namespace normforge
