#pragma once

#include "autotune/search/ladder.h"

namespace normforge {

// The machine's first GPU, asked for in a child process: a driver that was opened does not outlast a fork. Throws
// UserError, with the runtime's words, where there is no driver, no GPU or too old a one of either.
Hardware detect_gpu();

// This machine with that GPU or, where there is none, the usual one.
Machine this_machine();

}  // namespace normforge
