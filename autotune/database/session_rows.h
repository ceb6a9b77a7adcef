#pragma once

#include <vector>

#include "autotune/database/session.h"
#include "autotune/database/table_row.h"

namespace normforge {

// The columns but id of the tables of that name.
std::vector<Column> hardware_row(const Hardware &hardware);
std::vector<Column> toolchain_row(const Toolchain &toolchain);
std::vector<Column> generator_row(const GeneratorVersion &generator);

// All sessions, oldest first.
std::vector<StoredSession> read_sessions(const SqliteConnection &connection);

}  // namespace normforge
