// One library for several kinds of ARM machines, in a C program: on each CPU it takes the best kernel that this
// one runs.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "autotune/library/library_writer.h"
#include "generators/emit.h"
#include "schedules/space.h"
#include "schedules/target.h"
#include "tests/temporary_folder.h"

namespace normforge {
namespace {

struct Cpu {
    const char *label;
    const char *cpu;     // as qemu names it
    const char *target;  // of the kernel that it gets
};

std::vector<LibraryKernel> example_kernels() {
    const NormProblem problem = parse_problem("op=rms_norm,dtype=f32,weight=none,hidden=1000");
    std::vector<LibraryKernel> kernels;
    for (const char *name :
         {"arm-64-linux-neon", "arm-64-linux-armv86a", "arm-64-linux-armv86a-sve2-128", "arm-64-linux-sve2-256"}) {
        const Halide::Target target = kernel_target(name);
        const Knobs knobs = heuristic(problem, target);
        kernels.push_back(
            {problem, target, {{knobs, 0, "heuristic", emit({problem, knobs, target}, EmitForm::object)}}});
    }
    return kernels;
}

class ArmLibrary : public testing::TestWithParam<Cpu> {};

// Registers of 512 bits, for which the library has no kernel, are left alone.
INSTANTIATE_TEST_SUITE_P(
    All, ArmLibrary,
    testing::Values(Cpu{"baseline", "cortex-a72", "arm-64-linux"}, Cpu{"half", "neoverse-n1", "arm-64-linux"},
                    Cpu{"bf16", "max,sve=off", "arm-64-linux-armv86a"},
                    Cpu{"sve2_128", "max,sve-max-vq=1", "arm-64-linux-armv86a-sve2-vector_bits_128"},
                    Cpu{"sve2_256", "max,sve-max-vq=2", "arm-64-linux-sve2-vector_bits_256"},
                    Cpu{"sve2_512", "max,sve-max-vq=4", "arm-64-linux-armv86a"},
                    Cpu{"sve_512_without_sve2", "a64fx", "arm-64-linux"}),
    [](const auto &test) { return std::string(test.param.label); });

TEST_P(ArmLibrary, GivesTheBestKernelThatTheCpuRuns) {
    const TemporaryFolder folder;
    write_library("norms", folder.path(), LibraryKind::static_library, example_kernels());
    const std::string program = folder / "user";
    const std::string compile = NORMFORGE_ARM_C " -std=c11 -Wall -Wextra -pedantic -Werror -static -pthread -I'" +
                                folder.path().string() + "' -o " + program +
                                " '" NORMFORGE_TESTS "/arm_library_user.c' " + (folder / "libnorms.a").string();
    ASSERT_EQ(std::system(compile.c_str()), 0);
    const std::string run = std::string("qemu-aarch64 -cpu ") + GetParam().cpu + " " + program;
    const std::unique_ptr<FILE, int (*)(FILE *)> pipe(popen(run.c_str(), "r"), pclose);
    char line[256] = "";
    EXPECT_TRUE(std::fgets(line, sizeof line, pipe.get()));
    EXPECT_EQ(std::string(line), GetParam().target + std::string("\n"));
}

// The C library is all that it is linked with.
TEST(ArmSharedLibrary, LinksByTheCrossCompiler) {
    const TemporaryFolder folder;
    setenv("CC", NORMFORGE_ARM_C, 1);
    write_library("norms", folder.path(), LibraryKind::shared_library, example_kernels());
    EXPECT_EQ(folder.read("libnorms.so").substr(0, 4), "\x7f"
                                                       "ELF");
}

}  // namespace
}  // namespace normforge
