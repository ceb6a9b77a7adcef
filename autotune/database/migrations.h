#pragma once

#include <cstdint>

#include "autotune/database/sqlite.h"

namespace normforge {

// The newest schema, a file's user_version.
int64_t schema_version();

// Makes the tables of a file of one schema, 0 for an empty one, those of another, with all that they hold. To be
// called in a transaction, without enforcement of foreign keys.
void migrate_tables(SqliteConnection &connection, int64_t from, int64_t to);

}  // namespace normforge
