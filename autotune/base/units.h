#pragma once

#include <cstdint>
#include <string>

namespace normforge {

// Numbers for people, of at most four digits and in a unit that keeps them below 1000 or 1024: "82.91 ns", "1.5
// ms", "12345 s", "48 KiB". What programs read is in ns, s and bytes.
std::string time_text(double nanoseconds);
std::string size_text(int64_t bytes);

// "1 row", "64 rows".
std::string counted(int64_t count, const std::string &noun);

}  // namespace normforge
