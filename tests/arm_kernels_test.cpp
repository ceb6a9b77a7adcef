// Kernels for ARM pass the accuracy gate there. They are made here, linked into a program with the gate by the
// cross compiler, and run by qemu, or by what the environment variable NORMFORGE_ARM_LAUNCHER says: a command that
// takes the program's path. With NORMFORGE_ARM_ALL set, at all hidden sizes rather than at a sample of them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "autotune/library/library_writer.h"
#include "generators/emit.h"
#include "schedules/row_schedules.h"
#include "schedules/space.h"
#include "schedules/target.h"
#include "tests/every_problem.h"
#include "tests/temporary_folder.h"

namespace normforge {
namespace {

constexpr const char *kArmTargets[] = {"arm-64-linux-neon",     "arm-64-linux-arm_fp16",
                                       "arm-64-linux-armv86a",  "arm-64-linux-sve2-128",
                                       "arm-64-linux-sve2-256", "arm-64-linux-armv86a-sve2-512"};
constexpr const char *kX86Targets[] = {"x86-64-linux"};
constexpr const char *kEmulator = "qemu-aarch64 -cpu max,sve-max-vq=4";

// At all hidden sizes, and more schedules.
bool wants_all() {
    return std::getenv("NORMFORGE_ARM_ALL") != nullptr;
}

// The heuristic's schedules and others from all over the space, each as a variant that rows alone do not choose.
LibraryKernel kernel_of(const NormProblem &problem, const Halide::Target &target) {
    std::vector<Knobs> schedules;
    for (const RowsSchedule &schedule : heuristic_for_rows(problem, target)) {
        schedules.push_back(schedule.knobs);
    }
    const std::vector<Knobs> all = enumerate(problem, target);
    const std::vector<size_t> parts = wants_all() ? std::vector<size_t>{1, 3, 5} : std::vector<size_t>{3};
    for (size_t part : parts) {
        const Knobs &knobs = all[part * all.size() / 6];
        if (std::ranges::find(schedules, knobs) == schedules.end()) {
            schedules.push_back(knobs);
        }
    }
    LibraryKernel kernel{problem, target, {}};
    for (const Knobs &knobs : schedules) {
        kernel.variants.push_back({knobs, static_cast<int64_t>(kernel.variants.size()), to_text(knobs),
                                   emit({problem, knobs, target}, EmitForm::object)});
    }
    return kernel;
}

struct Line {
    std::string state;
    std::string target;
    std::string digest;
};

// What the gate's program says of kernels of the problem.
class Gated {
public:
    struct Machine {
        const char *link;       // the compiler and its options
        const char *libraries;  // the gate's
        std::string launcher;
    };

    Gated(const NormProblem &problem, std::span<const char *const> targets, const Machine &machine) {
        std::vector<LibraryKernel> kernels;
        for (const char *name : targets) {
            kernels.push_back(kernel_of(problem, kernel_target(name)));
            variants += kernels.back().variants.size();
        }
        const TemporaryFolder folder;
        write_library("gated", folder.path(), LibraryKind::static_library, kernels);
        const std::string program = folder / "gate_runner";
        // The runtime is the library's own.
        const std::string link = std::string(machine.link) + " -o " + program + " -Wl,--start-group " +
                                 (folder / "libgated.a").string() + " " + machine.libraries + " -Wl,--end-group";
        if (std::system(link.c_str()) != 0) {
            output = "cannot link: " + link;
            return;
        }
        const std::unique_ptr<FILE, int (*)(FILE *)> pipe(popen((machine.launcher + " " + program).c_str(), "r"),
                                                          pclose);
        char text[4096];
        while (std::fgets(text, sizeof text, pipe.get())) {
            output += text;
            Line line;
            std::istringstream(text) >> line.state >> line.target >> line.digest;
            lines.push_back(line);
        }
    }

    size_t variants = 0;
    std::string output;
    std::vector<Line> lines;
};

Gated::Machine arm_machine() {
    const char *launcher = std::getenv("NORMFORGE_ARM_LAUNCHER");
    return {NORMFORGE_ARM_LINK, NORMFORGE_ARM_LIBRARIES, launcher ? launcher : kEmulator};
}

std::set<std::string> digests(const Gated &gated) {
    std::set<std::string> result;
    for (const Line &line : gated.lines) {
        if (line.state != "skipped") {
            result.insert(line.digest);
        }
    }
    return result;
}

class ArmKernels : public testing::TestWithParam<std::tuple<std::string, int64_t>> {
protected:
    const NormProblem problem =
        parse_problem(std::get<0>(GetParam()) + ",hidden=" + std::to_string(std::get<1>(GetParam())));
};

// An emulator has every kind of machine; hardware skips what it lacks.
TEST_P(ArmKernels, PassTheGate) {
    const Gated arm(problem, kArmTargets, arm_machine());
    size_t passed = 0;
    for (const Line &line : arm.lines) {
        passed += line.state == "ok";
        EXPECT_TRUE(line.state == "ok" || line.state == "skipped") << arm.output;
    }
    EXPECT_GT(passed, 0u) << arm.output;
    if (!std::getenv("NORMFORGE_ARM_LAUNCHER")) {
        EXPECT_EQ(passed, arm.variants) << arm.output;
    }
    if (problem.portable == NF_YES) {
        const Gated::Machine here{NORMFORGE_LINK, NORMFORGE_LIBRARIES, ""};
        const Gated x86(problem, kX86Targets, here);
        EXPECT_EQ(digests(arm).size(), 1u) << arm.output;
        EXPECT_EQ(digests(arm), digests(x86)) << arm.output << x86.output;
    }
}

// Less than a vector; vectors and a tail; many steps, and chunks with a tail.
std::vector<std::tuple<std::string, int64_t>> cases() {
    std::vector<std::tuple<std::string, int64_t>> result;
    constexpr int64_t kSizes[] = {100, 7, 1031};
    for (const std::string &problem : all_problems()) {
        if (wants_all()) {
            for (int64_t hidden : {1, 5, 7, 64, 100, 1031, 4099}) {
                result.emplace_back(problem, hidden);
            }
        } else {
            result.emplace_back(problem, kSizes[result.size() % std::size(kSizes)]);
        }
    }
    return result;
}

INSTANTIATE_TEST_SUITE_P(All, ArmKernels, testing::ValuesIn(cases()), [](const auto &test) {
    return symbol_name(
        parse_problem(std::get<0>(test.param) + ",hidden=" + std::to_string(std::get<1>(test.param))));
});

}  // namespace
}  // namespace normforge
