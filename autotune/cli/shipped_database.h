#pragma once

#include "autotune/database/database.h"

namespace normforge {

// What autotune/shipped holds, inside the program. For reading, and for one thread.
const Database &shipped_database();

}  // namespace normforge
