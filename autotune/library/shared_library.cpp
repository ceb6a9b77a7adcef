#include "autotune/library/shared_library.h"

#include <vector>

#include "autotune/library/tool.h"

namespace normforge {

void link_shared_library(const std::filesystem::path &archive, const std::string &soname,
                         const std::filesystem::path &output) {
    std::vector<std::string> command = tool_words("CC", "cc");
    // Were anything missing beyond the C library, -z defs would make it an error here rather than in a program.
    for (const std::string &option :
         {std::string("-shared"), "-Wl,-soname," + soname, std::string("-Wl,-z,defs"),
          std::string("-nodefaultlibs"), std::string("-Wl,--whole-archive"), archive.string(),
          std::string("-Wl,--no-whole-archive"), std::string("-lc"), std::string("-o"), output.string()}) {
        command.push_back(option);
    }
    run_tool(command, "link " + soname,
             "a shared library needs a C compiler, cc or the one that the environment variable CC names; "
             "a static library needs none");
}

}  // namespace normforge
