#include "autotune/cli/shipped_database.h"

#include "autotune/library/embedded_files.h"

namespace normforge {

const Database &shipped_database() {
    static const Database database = Database::of_bytes("shipped with normforge", embedded_shipped_database());
    return database;
}

}  // namespace normforge
