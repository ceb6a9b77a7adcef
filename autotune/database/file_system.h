#pragma once

#include <cstdint>
#include <string>

namespace normforge {

// Whether files of this type of file system, statfs's f_type, may be in use by several machines at once.
// FUSE counts: it may be anything.
bool is_network_file_system(int64_t type);

// The type of the file system that holds an existing file or folder; 0 where that cannot be found out.
int64_t file_system_type(const std::string &path);

}  // namespace normforge
