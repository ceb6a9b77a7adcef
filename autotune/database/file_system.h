#pragma once

#include <cstdint>
#include <string>

namespace normforge {

// Whether files of this type of file system, statfs's f_type, may be in use by several machines at once.
// FUSE counts: it may be anything.
bool is_network_file_system(int64_t type);

// The type of the file system that holds an existing file or folder; 0 where that cannot be found out.
int64_t file_system_type(const std::string &path);

// Whether a database file is at rest where this process cannot change it: it may not write the file or its folder,
// and no journal lies beside it. SQLite then needs to be told that the file is immutable, since it cannot make the
// files by which it watches for others.
bool is_immutable(const std::string &path);

}  // namespace normforge
