#pragma once

#include <functional>

namespace normforge {

// Has the work done when the stub's stream gets there: when a program waits for it, and then as late as the waits
// for events allow, so that a wait that is missing shows. A captured stream keeps it for its graph. On other
// streams it is done at once.
void submit(void *stream, std::function<void()> work);

}  // namespace normforge
