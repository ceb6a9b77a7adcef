#pragma once

#include <string_view>

namespace normforge {

// Files of this build, kept inside the program so that it needs no installed files beside it. Every generated
// library takes a copy of the first two.

// libnormforge_runtime.a for this machine, and for ARM, which is empty where the build had no cross compiler.
std::string_view embedded_runtime_archive();
std::string_view embedded_arm_runtime_archive();

// What tune --launcher links a measuring program of, for this machine and for ARM, as above.
std::string_view embedded_measuring_archive();
std::string_view embedded_arm_measuring_archive();

// The text of runtime/normforge.h.
std::string_view embedded_api_header();

// The tuning database that is made of autotune/shipped.
std::string_view embedded_shipped_database();

// autotune/report/page.html with its style and scripts.
std::string_view embedded_report_page();

}  // namespace normforge
