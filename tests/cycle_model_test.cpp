// What LLVM MCA says of kernels. Nothing runs, so every machine can test it for all CPUs.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "autotune/model/known_cpus.h"
#include "autotune/model/static_time.h"
#include "generators/emit.h"
#include "runtime/user_error.h"
#include "schedules/space.h"
#include "schedules/target.h"

namespace normforge {
namespace {

constexpr int kHidden = 4096;

KernelSpec heuristic_spec(const std::string &problem, const char *target_name) {
    const NormProblem parsed = parse_problem(problem);
    const Halide::Target target = kernel_target(target_name);
    return {parsed, heuristic(parsed, target), target};
}

class CycleModel : public testing::TestWithParam<const char *> {
protected:
    const KnownCpu &cpu = known_cpu(GetParam());
};

INSTANTIATE_TEST_SUITE_P(All, CycleModel, testing::ValuesIn([] {
                             std::vector<const char *> names;
                             for (const KnownCpu &cpu : known_cpus()) {
                                 names.push_back(cpu.name);
                             }
                             return names;
                         }()),
                         [](const auto &test) {
                             std::string name = test.param;
                             std::ranges::replace(name, '-', '_');
                             return name;
                         });

// The sums go over all values once, and writing does: the loops of rare rows are passed by.
TEST_P(CycleModel, GoesTheWayOfUsualRows) {
    for (const char *problem : {"op=rms_norm,dtype=f32,hidden=4096", "op=layer_norm,dtype=f32,hidden=4096",
                                "op=rms_norm,hidden=4096,dtype=bf16", "op=layer_norm,hidden=4096,dtype=f16"}) {
        const KernelSpec spec = heuristic_spec(problem, cpu.target);
        const KernelCycles cycles = simulate(spec, cpu.pipeline, 1);
        ASSERT_GE(cycles.loops.size(), 2u) << problem;
        int64_t summed = 0;
        for (const LoopCycles &loop : cycles.loops) {
            summed += &loop == &cycles.loops.back() ? 0 : loop.trips * spec.knobs.lanes();
        }
        EXPECT_EQ(summed, kHidden) << problem;
        EXPECT_EQ(cycles.loops.back().trips * spec.knobs.vector * spec.knobs.unroll, kHidden) << problem;
        EXPECT_LE(cycles.next_pass, cycles.first_pass) << problem;
    }
}

// A shipped entry of the model says by its object's digest which code was ranked, and what is built is emit's.
TEST_P(CycleModel, RanksTheObjectThatIsBuilt) {
    for (const char *problem : {"op=rms_norm,dtype=f32,hidden=4096", "op=layer_norm,dtype=bf16,hidden=1024",
                                "op=rms_norm,dtype=f16,hidden=1024"}) {
        KernelSpec spec = heuristic_spec(problem, cpu.target);
        for (const int block : {1, 4}) {
            spec.knobs.block = block;
            compile_and_simulate(spec, cpu.pipeline, {1}, [&](const std::string &object) {
                EXPECT_TRUE(object == emit(spec, EmitForm::object)) << problem << ", block " << block;
            });
        }
    }
}

// One branch leads around all rows of a block, and not one for each of them.
TEST(RareRows, OfABlockArePassedByAtOnce) {
    const KnownCpu &cpu = known_cpu("znver4");
    KernelSpec spec = heuristic_spec("op=layer_norm,dtype=f32,hidden=4096", cpu.target);
    spec.knobs.writing = kAscending;
    spec.knobs.block = 8;
    for (const LoopCycles &loop : simulate(spec, cpu.pipeline, spec.knobs.block).loops) {
        EXPECT_NE(loop.trips, spec.knobs.block);
    }
}

// Of one accumulator each sum waits for the one before: an FMA takes at least two cycles on all of these CPUs,
// even where it is forwarded. With eight the same values take less.
TEST_P(CycleModel, SeesTheChainOfASum) {
    KernelSpec spec = heuristic_spec("op=rms_norm,dtype=f32,hidden=4096", cpu.target);
    spec.knobs.accumulators = 1;
    const LoopCycles chain = simulate(spec, cpu.pipeline, 1).loops.front();
    spec.knobs.accumulators = 8;
    const LoopCycles parallel = simulate(spec, cpu.pipeline, 1).loops.front();
    EXPECT_GE(chain.cycles, 2);
    EXPECT_LT(static_cast<double>(parallel.trips) * parallel.cycles,
              static_cast<double>(chain.trips) * chain.cycles);
}

TEST_P(CycleModel, IsTheSameTwice) {
    const KernelSpec spec = heuristic_spec("op=layer_norm,hidden=768,dtype=bf16", cpu.target);
    EXPECT_EQ(simulate(spec, cpu.pipeline, 1).first_pass, simulate(spec, cpu.pipeline, 1).first_pass);
}

// A loop's trips beyond those that are simulated take what the last ones take. What is left is the merging of more
// chunks of the row.
TEST_P(CycleModel, GrowsWithTheRow) {
    const auto cycles = [&](int64_t hidden) {
        KernelSpec spec = heuristic_spec("op=rms_norm,dtype=f32,hidden=4096", cpu.target);
        spec.problem.hidden = hidden;
        return simulate(spec, cpu.pipeline, 1);
    };
    const KernelCycles once = cycles(kHidden);
    const KernelCycles twice = cycles(2 * kHidden);
    double in_loops = 0;
    for (const LoopCycles &loop : once.loops) {
        in_loops += static_cast<double>(loop.trips) * loop.cycles;
    }
    // A longer row has more chunks, whose sums are merged outside of these loops, and Sapphire Rapids' are the
    // shortest.
    const double rest = std::string(GetParam()) == "sapphirerapids" ? 0.2 : 0.15;
    EXPECT_NEAR(twice.next_pass - once.next_pass, in_loops, rest * in_loops);
}

TEST(CycleModelErrors, NameTheCpuAndTheInstruction) {
    const KernelSpec spec = heuristic_spec("op=rms_norm,dtype=f32,hidden=4096", "arm-64-linux-sve2-256");
    EXPECT_THROW(simulate(spec, {"pentium9", 0}, 1), UserError);
    try {
        simulate(spec, known_cpu("cortex-a72").pipeline, 1);
        FAIL() << "an A72 without SVE runs it";
    } catch (const UserError &error) {
        EXPECT_NE(std::string(error.what()).find("cortex-a72 lacks the instruction"), std::string::npos)
            << error.what();
    }
    EXPECT_THROW(known_cpu("pentium9"), UserError);
}

// In units of a row's bytes over the second cache's bandwidth.
TEST(StaticTime, MovesWhatTheFirstCacheCannotHold) {
    const KnownCpu &cpu = known_cpu("neoverse-n1");
    KernelSpec spec = heuristic_spec("op=layer_norm,dtype=f32,hidden=1024", cpu.target);
    const KernelCycles cycles{100, 50, {}};
    const double row = 4096 / cpu.l2_bandwidth;
    EXPECT_EQ(static_time(spec, cycles, cpu, 1).traffic, 0);
    EXPECT_EQ(static_time(spec, cycles, cpu, 1).compute, 100);
    EXPECT_EQ(static_time(spec, cycles, cpu, 3).compute, 200);
    EXPECT_EQ(static_time(spec, cycles, cpu, 64).traffic, 64 * 2 * row);  // x is read, y written
    spec.knobs.stores = kStreaming;
    EXPECT_EQ(static_time(spec, cycles, cpu, 64).traffic, 64 * (row + 4096 / cpu.memory_bandwidth));
    spec.knobs.block = 8;
    EXPECT_EQ(static_time(spec, cycles, cpu, 64).compute, 100 + 7 * 50);
    EXPECT_EQ(static_time(spec, cycles, cpu, 64).total(), static_time(spec, cycles, cpu, 64).traffic + 450.0 / 2);
}

TEST(KnownCpus, RunTheKernelsOfTheirTargets) {
    for (const KnownCpu &cpu : known_cpus()) {
        const Halide::Target target = kernel_target(cpu.target);
        const Hardware hardware = hardware_of(cpu);
        EXPECT_EQ(needed_cpu_features(target) & ~hardware.features, 0u) << cpu.name;
        EXPECT_EQ(hardware.arch, is_arm(target) ? "arm" : "x86") << cpu.name;
    }
}

TEST(KnownCpu, IsFoundByItsInstructionSetsWhereItsModelIsMasked) {
    Hardware machine = hardware_of(known_cpu("sapphirerapids"));
    machine.model = 167;
    EXPECT_STREQ(known_cpu_of("rocketlake", machine).name, "sapphirerapids");
    EXPECT_STREQ(known_cpu_of("znver4", machine).name, "znver4");
    Hardware lesser = machine;
    lesser.features &= lesser.features - 1;
    EXPECT_THROW(known_cpu_of("rocketlake", lesser), UserError);
    machine.vendor = "amd";
    EXPECT_THROW(known_cpu_of("rocketlake", machine), UserError);
}

}  // namespace
}  // namespace normforge
