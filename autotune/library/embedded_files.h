#pragma once

#include <string_view>

namespace normforge {

// Files of this build that every generated library takes a copy of, kept inside the program so that it needs no
// installed files beside it.

// libnormforge_runtime.a for this machine, and for ARM, which is empty where the build had no cross compiler.
std::string_view embedded_runtime_archive();
std::string_view embedded_arm_runtime_archive();

// The text of runtime/normforge.h.
std::string_view embedded_api_header();

}  // namespace normforge
