#pragma once

#include <string>

#include "autotune/cli/commands.h"

namespace normforge {

// What the command line asks for, not yet done. Throws UsageError, which names the option or word that is wrong
// and says what is allowed or which help tells it.
Run parse_command_line(int argc, char **argv);

}  // namespace normforge
