#pragma once

#include "autotune/database/database.h"

namespace normforge {

// Of the generators and schedules that this program was built from.
GeneratorVersion current_generator();

}  // namespace normforge
