#include "schedules/row_schedules.h"
#include "schedules/space.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "schedules/target.h"

namespace normforge {
namespace {

struct Machine {
    const char *name;
    const char *target;
    int widest;  // values per vector register
};

constexpr Machine kMachines[] = {
    {"sse41", "x86-64-linux-sse41", 4},
    {"avx2", "x86-64-linux-avx2-fma-f16c-avx-sse41", 8},
    {"avx512", "x86-64-linux-avx512_skylake-avx512-avx2-fma-f16c-avx-sse41", 16},
    {"neon", "arm-64-linux-neon", 4},
    {"sve2_256", "arm-64-linux-sve2-256", 8},
};

using Case = std::tuple<Machine, nf_op, int64_t>;

std::string name_of(const Case &param) {
    const auto &[machine, op, hidden] = param;
    return std::string(machine.name) + "_" + field_text(op) + "_" + field_text(hidden);
}

class Space : public testing::TestWithParam<Case> {
protected:
    const Machine machine = std::get<Machine>(GetParam());
    const Halide::Target target = kernel_target(machine.target);
    const NormProblem problem = default_problem(std::get<nf_op>(GetParam()), std::get<int64_t>(GetParam()));
    const std::vector<Knobs> all = enumerate(problem, target);
};

INSTANTIATE_TEST_SUITE_P(All, Space,
                         testing::Combine(testing::ValuesIn(kMachines),
                                          testing::Values(NF_LAYER_NORM, NF_RMS_NORM),
                                          testing::Values<int64_t>(1, 2, 3, 7, 64, 95, 4096, NF_MAX_HIDDEN)),
                         [](const auto &test) { return name_of(test.param); });

TEST_P(Space, HasSchedulesThatCheckAcceptsEachOnce) {
    ASSERT_FALSE(all.empty());
    for (const Knobs &knobs : all) {
        EXPECT_EQ(check(problem, knobs, target), "") << to_text(knobs);
        EXPECT_EQ(std::ranges::count(all, knobs), 1) << to_text(knobs);
    }
}

TEST_P(Space, HasTheHeuristicsChoice) {
    const Knobs knobs = heuristic(problem, target);
    EXPECT_EQ(check(problem, knobs, target), "") << to_text(knobs);
    EXPECT_EQ(std::ranges::count(all, knobs), 1) << to_text(knobs);
}

// The widest registers and the most accumulators are tried where a row fills more than half of them.
TEST_P(Space, ReachesTheWidestRegisters) {
    const bool room = problem.hidden > 8 * machine.widest / 2;
    const auto has = [&](auto predicate) { return std::ranges::any_of(all, predicate); };
    EXPECT_EQ(has([&](const Knobs &knobs) { return knobs.lanes() == 8 * machine.widest; }), room);
    EXPECT_FALSE(has([&](const Knobs &knobs) { return knobs.vector > machine.widest; }));
}

TEST_P(Space, ComesInAFixedOrder) {
    EXPECT_EQ(enumerate(problem, target), all);
    // That of the knob table: its first knob turns slowest.
    const auto position = [](const Knobs &knobs) {
        std::vector<std::ptrdiff_t> digits;
        for (const Knob &knob : knob_table()) {
            const auto found = std::ranges::find(knob.values, knobs.*knob.member, &KnobValue::value);
            digits.push_back(found - knob.values.begin());
        }
        return digits;
    };
    EXPECT_TRUE(std::ranges::is_sorted(all, {}, position));
}

// Whatever the number of rows, an untuned library gives the same bits.
TEST_P(Space, HasHeuristicsOfOneArithmeticForRisingRows) {
    const std::vector<RowsSchedule> schedules = heuristic_for_rows(problem, target);
    ASSERT_FALSE(schedules.empty());
    EXPECT_EQ(schedules[0].min_rows, 0);
    EXPECT_EQ(schedules[0].knobs, heuristic(problem, target));
    for (size_t index = 0; index < schedules.size(); index++) {
        const Knobs &knobs = schedules[index].knobs;
        EXPECT_EQ(std::ranges::count(all, knobs), 1) << to_text(knobs);
        EXPECT_EQ(knobs.sums, schedules[0].knobs.sums);
        EXPECT_EQ(knobs.lanes(), schedules[0].knobs.lanes());
        if (index > 0) {
            EXPECT_GT(schedules[index].min_rows, schedules[index - 1].min_rows);
            EXPECT_NE(knobs, schedules[index - 1].knobs);
        }
    }
    // A core, for longer than memory is.
    const bool is_busy = problem.op == NF_LAYER_NORM && problem.hidden < 128 && vector_bits(target) == 512;
    EXPECT_EQ(schedules.back().knobs.stores == kStreaming,
              !is_arm(target) && !is_busy && problem.hidden % schedules[0].knobs.vector == 0);
}

// Rows that share the loads of a weight are written in turns, a vector of each: lines of the caches are whole then
// only where a vector is one. By halves, 4096 f32 values took 2.5 to 6 times as long.
TEST_P(Space, HasHeuristicsThatStreamWholeLines) {
    for (const RowsSchedule &schedule : heuristic_for_rows(problem, target)) {
        if (schedule.knobs.stores == kStreaming && schedule.knobs.weights == kShared) {
            EXPECT_EQ(vector_bits(target), 512);
        }
    }
}

// 16-bit rows in blocks where a cache holds them; from memory streamed if they are long, else row after row.
TEST(Heuristic, ForNarrowRowsSharesWeightsInCache) {
    const Halide::Target avx2 = kernel_target(kMachines[1].target);
    for (const char *text : {"op=rms_norm,dtype=bf16,hidden=1024", "op=layer_norm,dtype=f16,hidden=4096"}) {
        const NormProblem problem = parse_problem(text);
        const std::vector<RowsSchedule> schedules = heuristic_for_rows(problem, avx2);
        ASSERT_EQ(schedules.size(), 3u) << text;
        EXPECT_EQ(schedules[1].knobs.weights, kShared) << text;
        EXPECT_EQ(schedules[2].knobs.weights, kPerRow) << text;
        EXPECT_EQ(schedules[2].knobs.stores, problem.hidden == 4096 ? kStreaming : kCached) << text;
    }
}

// From memory and with a residual, where vectors are half a line: f16 gains from streaming stores, bf16 loses.
TEST(Heuristic, StreamsF16BesideAResidualOnAvx2AndNotBf16) {
    const Halide::Target avx2 = kernel_target(kMachines[1].target);
    for (const char *op : {"layer_norm", "rms_norm"}) {
        for (const char *hidden : {"1024", "4096"}) {
            for (const char *dtype : {"f16", "bf16"}) {
                const std::string type = dtype;
                const NormProblem problem =
                    parse_problem("op=" + std::string(op) + ",dtype=" + type + ",residual=" + type +
                                  ",sum=" + type + ",hidden=" + hidden);
                const Knobs knobs = heuristic_for_rows(problem, avx2).back().knobs;
                EXPECT_EQ(knobs.stores, type == "f16" ? kStreaming : kCached) << to_text(problem);
                EXPECT_EQ(knobs.prefetch, 2) << to_text(problem);
            }
        }
    }
}

// Blocks of 256 values lose with 16 registers, which only x86 below AVX-512 has.
TEST(Heuristic, TakesBf16BesideAResidualInBlocksOf16) {
    for (const Machine &machine : kMachines) {
        const Halide::Target target = kernel_target(machine.target);
        const bool has_16_registers = !is_arm(target) && vector_bits(target) < 512;
        for (const int hidden : {128, 256}) {
            const std::vector<RowsSchedule> schedules = heuristic_for_rows(
                parse_problem("op=rms_norm,dtype=bf16,residual=bf16,sum=bf16,hidden=" + std::to_string(hidden)),
                target);
            const bool has_blocks = std::ranges::any_of(
                schedules, [](const RowsSchedule &schedule) { return schedule.knobs.block == 16; });
            EXPECT_EQ(has_blocks, hidden == 128 || !has_16_registers) << machine.name << ' ' << hidden;
        }
    }
}

// Without a weight no load is shared, and what the schedules have beside that stays.
TEST(Heuristic, StreamsLongNarrowRowsWithoutWeight) {
    const std::vector<RowsSchedule> schedules = heuristic_for_rows(
        parse_problem("op=rms_norm,dtype=bf16,weight=none,hidden=4096"), kernel_target(kMachines[1].target));
    ASSERT_EQ(schedules.size(), 2u);
    EXPECT_EQ(schedules[1].knobs.weights, kPerRow);
    EXPECT_EQ(schedules[1].knobs.stores, kStreaming);
}

Knobs make_knobs(Sums sums, int vector, int accumulators, int unroll, Stores stores = kCached, int block = 1,
                 Weights weights = kPerRow, int prefetch = 0) {
    Knobs knobs{};
    knobs.stores = stores;
    knobs.block = block;
    knobs.weights = weights;
    knobs.prefetch = prefetch;
    knobs.sums = sums;
    knobs.vector = vector;
    knobs.accumulators = accumulators;
    knobs.unroll = unroll;
    return knobs;
}

struct Refused {
    const char *name;
    nf_op op;
    int64_t hidden;
    Knobs knobs;
    const char *reason;  // a part of it
};

class Check : public testing::TestWithParam<Refused> {};

TEST_P(Check, GivesItsReason) {
    const auto &[name, op, hidden, knobs, reason] = GetParam();
    const NormProblem problem = default_problem(op, hidden);
    const Halide::Target avx2 = kernel_target(kMachines[1].target);
    const std::string answer = check(problem, knobs, avx2);
    EXPECT_NE(answer.find(reason), std::string::npos) << "'" << answer << "'";
    EXPECT_EQ(std::ranges::count(enumerate(problem, avx2), knobs), 0);
}

INSTANTIATE_TEST_SUITE_P(
    All, Check,
    testing::Values(
        Refused{"rms_norm_about_pivots", NF_RMS_NORM, 4096, make_knobs(kRowPivot, 8, 4, 4), "plain for all else"},
        Refused{"rms_norm_in_two_passes", NF_RMS_NORM, 4096, make_knobs(kTwoPass, 8, 4, 4), "plain for all else"},
        Refused{"layer_norm_without_pivot", NF_LAYER_NORM, 4096, make_knobs(kPlain, 8, 4, 4),
                "row_pivot and two_pass are for the forward pass of layer_norm"},
        Refused{"streaming_part_of_a_vector", NF_RMS_NORM, 4100, make_knobs(kPlain, 8, 4, 4, kStreaming),
                "rows of whole vectors"},
        Refused{"shared_weights_of_one_row", NF_RMS_NORM, 4096, make_knobs(kPlain, 8, 4, 4, kCached, 1, kShared),
                "weights=shared is for blocks"},
        Refused{"shared_weights_of_many_vectors", NF_RMS_NORM, 4096,
                make_knobs(kPlain, 8, 4, 8, kCached, 8, kShared), "at most 32"},
        Refused{"prefetched_block", NF_RMS_NORM, 4096, make_knobs(kPlain, 8, 4, 4, kCached, 8, kPerRow, 1),
                "a block is prefetched where"},
        Refused{"wide_vector", NF_RMS_NORM, 4096, make_knobs(kPlain, 16, 1, 1),
                "vector is wider than the target's registers"},
        Refused{"more_lanes_than_values", NF_RMS_NORM, 16, make_knobs(kPlain, 8, 4, 1),
                "vector * accumulators or vector * unroll is wider than the row"},
        Refused{"more_values_a_step_than_in_the_row", NF_RMS_NORM, 16, make_knobs(kPlain, 8, 1, 4),
                "vector * accumulators or vector * unroll is wider than the row"}),
    [](const auto &test) { return std::string(test.param.name); });

// The other side of each limit.
TEST(CheckLimits, AcceptWhatJustFits) {
    const Halide::Target avx2 = kernel_target(kMachines[1].target);
    EXPECT_EQ(check(default_problem(NF_RMS_NORM, 17), make_knobs(kPlain, 8, 4, 4), avx2), "");
    EXPECT_EQ(check(default_problem(NF_LAYER_NORM, 96), make_knobs(kRowPivot, 8, 4, 1), avx2), "");
}

}  // namespace
}  // namespace normforge
