#pragma once

#include <string>

namespace normforge {

// This process, in words that no other one has, also on another machine or after the next boot.
std::string process_identity();

// Whether the process of that identity is known to have ended: it was on this machine, and is gone. One of another
// machine, or of a container that cannot be looked into, may live on.
bool has_ended(const std::string &identity);

}  // namespace normforge
