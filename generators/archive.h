#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace normforge {

// A file of a static library.
struct ArchiveMember {
    std::string name;
    std::string bytes;
};

// A static library with a symbol table, as linkers on Linux read it. Equal members give equal bytes: no times,
// users or permissions are stored.
std::string make_archive(const std::vector<ArchiveMember> &members);

// The members of a static library, in its order. The program stops for bytes that are none.
std::vector<ArchiveMember> archive_members(std::string_view archive);

}  // namespace normforge
