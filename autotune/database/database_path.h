#pragma once

#include <string>

namespace normforge {

// The file that the environment variable NORMFORGE_DB names, else normforge/tuning.db in the user's folder for
// data: XDG_DATA_HOME or ~/.local/share. Throws UserError where the environment tells none of them.
std::string default_database_path();

}  // namespace normforge
