#include "autotune/library/measuring_program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "autotune/library/embedded_files.h"
#include "autotune/library/pending_file.h"
#include "autotune/library/tool.h"
#include "runtime/user_error.h"
#include "schedules/target.h"

namespace normforge {

namespace {

struct Linking {
    std::string_view archive;
    const char *compiler_variable;
    const char *compiler;
};

Linking linking_for(const Halide::Target &target) {
    return is_arm(target) ? Linking{embedded_arm_measuring_archive(), "NORMFORGE_ARM_CXX", "aarch64-linux-gnu-g++"}
                          : Linking{embedded_measuring_archive(), "CXX", "c++"};
}

}  // namespace

void link_measuring_program(const LibraryKernel &kernel, const std::filesystem::path &program) {
    const Linking linking = linking_for(kernel.target);
    if (linking.archive.empty()) {
        throw UserError("this normforge has no measuring program for ARM: it was built where there was no "
                        "aarch64-linux-gnu-g++");
    }
    const std::filesystem::path folder = program.parent_path();
    write_library("measured", folder, LibraryKind::static_library, {kernel});
    PendingFile archive(folder / "libmeasuring.a");
    archive.write(std::string(linking.archive));
    archive.commit();
    std::vector<std::string> command = tool_words(linking.compiler_variable, linking.compiler);
    command.insert(command.end(),
                   {"-static", "-o", program.string(), "-Wl,--start-group", (folder / "libmeasured.a").string(),
                    (folder / "libmeasuring.a").string(), "-Wl,--end-group"});
    run_tool(command, "link the measuring program",
             fmt::format("a measuring program needs a C++ compiler for {}, {} or the one that the "
                         "environment variable {} names, and static libraries of C and C++",
                         target_name(kernel.target), linking.compiler, linking.compiler_variable));
}

}  // namespace normforge
