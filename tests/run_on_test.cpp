#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <tuple>

#include "autotune/measure/call_operands.h"
#include "tests/argument_examples.h"
#include "tests/ordinary_values.h"
#include "tests/parallel_loops.h"
#include "tests/plain_kernels.h"

namespace normforge {
namespace {

struct RowsOfGroups {
    int64_t rows;
    int64_t groups;
};
void PrintTo(const RowsOfGroups &shape, std::ostream *stream) {
    *stream << shape.rows << " rows of " << shape.groups << " groups";
}

std::vector<std::vector<uint32_t>> bits_of(const OperandValues &values) {
    std::vector<std::vector<uint32_t>> bits;
    for (const std::vector<float> &of_operand : values) {
        auto &operand_bits = bits.emplace_back();
        for (const float value : of_operand) {
            operand_bits.push_back(std::bit_cast<uint32_t>(value));
        }
    }
    return bits;
}

class RunOn : public testing::TestWithParam<std::tuple<ProblemExample, RowsOfGroups>> {
protected:
    void SetUp() override {
        problem = parse_problem(std::get<ProblemExample>(GetParam()).text);
        const auto &[rows, groups] = std::get<RowsOfGroups>(GetParam());
        values_ = ordinary_values(problem, rows * groups);
    }

    // What a call writes, with every operand and the workspace just before an unreadable page.
    std::vector<std::vector<uint32_t>> run(const nf_threads *threads) const {
        static constexpr nf_variant kVariant{kernel<PlainNorm>, 0, "plain", "", ""};
        const nf_kernel plain{problem, 0, "any", 1, &kVariant};
        const auto &[rows, groups] = std::get<RowsOfGroups>(GetParam());
        const CallOperands operands(problem, rows, groups, values_);
        const GuardedBytes workspace(
            static_cast<size_t>(nf_workspace_bytes_on(&plain, rows, groups, threads ? threads->count : 1)));
        nf_arguments arguments = operands.arguments();
        arguments.workspace = workspace.bytes().data();
        EXPECT_EQ(nf_run_on(&plain, &arguments, threads), NF_SUCCESS) << nf_operand_at_fault(&plain, &arguments);
        EXPECT_EQ(operands.damaged(arguments), std::nullopt);
        return bits_of(written_values(problem, arguments));
    }

    OperandValues values_;
};

TEST_P(RunOn, GivesTheBitsOfOneThread) {
    const auto expected = run(nullptr);
    for (const int64_t count : {1, 2, 3, 7, 2000}) {
        for (const LoopKind &kind : kLoops) {
            const nf_threads threads{kind.loop, nullptr, count};
            EXPECT_EQ(run(&threads), expected) << kind << " on " << count;
        }
    }
    for (const int64_t count : {1, 2, 3, 7}) {
        nf_pool *pool = nullptr;
        ASSERT_EQ(nf_pool_create(count, &pool), NF_SUCCESS);
        EXPECT_EQ(run(nf_pool_threads(pool)), expected) << "a pool of " << count;
        nf_pool_destroy(pool);
    }
}

INSTANTIATE_TEST_SUITE_P(All, RunOn,
                         testing::Combine(testing::ValuesIn(kProblemExamples),
                                          testing::Values(RowsOfGroups{2600, 1}, RowsOfGroups{650, 4},
                                                          RowsOfGroups{13, 200}, RowsOfGroups{1, 2600},
                                                          RowsOfGroups{5, 2})),
                         [](const auto &test) {
                             const RowsOfGroups &shape = std::get<RowsOfGroups>(test.param);
                             return std::string(std::get<ProblemExample>(test.param).name) + "_" +
                                    std::to_string(shape.rows) + "_rows_of_" + std::to_string(shape.groups);
                         });

// Calls of a kernel that records them.
class Tasks : public testing::Test {
protected:
    // The rows at which tasks begin and the end, where the rows of all groups are contiguous, of so many values.
    std::vector<int64_t> bounds(int64_t rows, int64_t groups, int64_t threads, int64_t hidden = 16) {
        const nf_kernel recording = recording_kernel(default_problem(NF_RMS_NORM, hidden));
        const nf_arguments arguments = example_arguments(recording.problem, rows, groups);
        static std::vector<int64_t> starts;
        starts.clear();
        entry_calls.clear();
        const auto loop = [](void *, int64_t tasks, Task task, void *argument, int64_t) {
            for (int64_t index = 0; index < tasks; index++) {
                starts.push_back(static_cast<int64_t>(entry_calls.size()));
                task(argument, index);
            }
        };
        const nf_threads on{loop, nullptr, threads};
        EXPECT_EQ(nf_run_on(&recording, &arguments, &on), NF_SUCCESS);
        std::vector<int64_t> result;
        int64_t next = 0;
        for (size_t call = 0; call < entry_calls.size(); call++) {
            if (std::ranges::count(starts, static_cast<int64_t>(call)) > 0) {
                result.push_back(next);
            }
            const auto distance = static_cast<const char *>(entry_calls[call].arguments.x.data) -
                                  static_cast<const char *>(arguments.x.data);
            EXPECT_EQ(distance, next * hidden * 4);
            next += entry_calls[call].arguments.rows;
        }
        EXPECT_EQ(next, rows * groups);
        result.push_back(next);
        return result;
    }
};

TEST_F(Tasks, HaveAtLeastAMeasuredNumberOfBytes) {
    const int64_t rows = NF_TASK_BYTES / (2 * 16 * 4);
    EXPECT_EQ(bounds(2 * rows - 1, 1, 7), (std::vector<int64_t>{2 * rows - 1})) << "nf_run";
    EXPECT_EQ(bounds(2 * rows, 1, 7).size(), 3u);
    EXPECT_EQ(bounds(7 * rows - 1, 1, 7).size(), 7u);
    EXPECT_EQ(bounds(7 * rows, 1, 7).size(), 8u);
    EXPECT_EQ(bounds(100 * rows, 1, 7).size(), 8u);
    EXPECT_EQ(bounds(rows, 2, 7).size(), 3u);
    EXPECT_EQ(bounds(3, 1, 7, 1 << 20), (std::vector<int64_t>{0, 1, 2, 3})) << "a row at least";
}

TEST_F(Tasks, BeginAtWholeBlocksOfRowsWhereThereAreMany) {
    EXPECT_EQ(bounds(1000, 1, 3, 1024), (std::vector<int64_t>{0, 320, 656, 1000}));
    EXPECT_EQ(bounds(100, 1, 3, 1024), (std::vector<int64_t>{0, 32, 64, 100})) << "blocks of 4";
    EXPECT_EQ(bounds(10, 1, 3, 8192), (std::vector<int64_t>{0, 3, 6, 10}));
    EXPECT_EQ(bounds(8, 125, 3, 1024), (std::vector<int64_t>{0, 328, 664, 1000})) << "whole groups";
    EXPECT_EQ(bounds(100, 10, 3, 1024), (std::vector<int64_t>{0, 332, 664, 1000})) << "blocks of a group";
}

// A stride with which only one row of x is within a kernel's reach.
TEST_F(Tasks, GetNoMoreRowsAtOnceThanAKernelReaches) {
    const nf_kernel recording = recording_kernel(default_problem(NF_RMS_NORM, 1 << 14));
    nf_arguments arguments = example_arguments(recording.problem, 7);
    arguments.x.row_stride = int64_t{1} << 30;
    entry_calls.clear();
    const nf_threads threads{loop_in_order, nullptr, 3};
    ASSERT_EQ(nf_run_on(&recording, &arguments, &threads), NF_SUCCESS);
    ASSERT_EQ(entry_calls.size(), 7u);
    for (const EntryCall &call : entry_calls) {
        EXPECT_EQ(call.arguments.rows, 1);
    }
}

void loop_of_no_call(void *, int64_t, Task, void *, int64_t) {
    FAIL() << "nothing may run";
}

class RefusedOnThreads : public testing::TestWithParam<ProblemExample> {};

TEST_P(RefusedOnThreads, IsWhatOneThreadRefuses) {
    const NormProblem of = parse_problem(GetParam().text);
    const nf_kernel recording = recording_kernel(of);
    const nf_threads threads{loop_of_no_call, nullptr, 4};
    for (const Operand &operand : kOperands) {
        if (operand_type(of, operand) == NF_NONE) {
            continue;
        }
        nf_arguments arguments = example_arguments(of, 10000);
        operand.shape == OperandShape::number ? store_field(arguments, operand, -1.0f)
                                              : store_field(arguments, operand, static_cast<char *>(nullptr));
        const nf_status status = nf_run(&recording, &arguments);
        EXPECT_NE(status, NF_SUCCESS) << operand.name;
        EXPECT_EQ(nf_run_on(&recording, &arguments, &threads), status) << operand.name;
    }
    for (const auto &[rows, groups] : {RowsOfGroups{-1, 1}, RowsOfGroups{10000, -1}, RowsOfGroups{INT64_MAX, 2}}) {
        const nf_arguments arguments = example_arguments(of, rows, groups);
        EXPECT_EQ(nf_run_on(&recording, &arguments, &threads), nf_run(&recording, &arguments));
    }
}

INSTANTIATE_TEST_SUITE_P(All, RefusedOnThreads, testing::ValuesIn(kProblemExamples),
                         [](const auto &test) { return std::string(test.param.name); });

TEST(RunOnArguments, MayNotBeNull) {
    const nf_kernel recording = recording_kernel(default_problem(NF_RMS_NORM, 16));
    const nf_arguments arguments = example_arguments(recording.problem, 10000);
    const nf_threads threads{loop_of_no_call, nullptr, 4};
    const nf_threads no_loop{nullptr, nullptr, 4};
    EXPECT_EQ(nf_run_on(nullptr, &arguments, &threads), NF_ERROR_NULL_ARGUMENT);
    EXPECT_EQ(nf_run_on(&recording, nullptr, &threads), NF_ERROR_NULL_ARGUMENT);
    EXPECT_EQ(nf_run_on(&recording, &arguments, &no_loop), NF_ERROR_NULL_ARGUMENT);
    EXPECT_EQ(nf_workspace_bytes_on(nullptr, 1, 1, 4), 0);
}

TEST(WorkspaceOfOneThread, IsTooShortForMore) {
    const nf_kernel recording = recording_kernel(parse_problem(kProblemExamples[3].text));
    const nf_threads threads{loop_of_no_call, nullptr, 4};
    nf_arguments arguments = example_arguments(recording.problem, 10000);
    arguments.workspace = at(address_of(arguments.dweight) - nf_workspace_bytes(&recording, 10000, 1));
    EXPECT_EQ(nf_operand_at_fault(&recording, &arguments), nullptr);
    EXPECT_EQ(nf_run_on(&recording, &arguments, &threads), NF_ERROR_SHORT_WORKSPACE);
}

// Thirds, rounded as the thread rounds.
void divide_by_three(const nf_arguments *arguments) {
    for (int64_t row = 0; row < arguments->rows; row++) {
        for (int64_t i = 0; i < 16; i++) {
            const volatile float x = static_cast<const float *>(arguments->x.data)[row * 16 + i];
            static_cast<float *>(arguments->y.data)[row * 16 + i] = x / 3;
        }
    }
}

TEST(RoundingMode, IsTheCallersInEveryTask) {
    static constexpr nf_variant kVariant{divide_by_three, 0, "thirds", "", ""};
    const nf_kernel thirds{parse_problem("op=rms_norm,dtype=f32,weight=none,hidden=16"), 0, "any", 1, &kVariant};
    constexpr int64_t kRows = 2000;
    std::vector<float> x(kRows * 16, 1.0f), y(x.size());
    nf_arguments arguments{};
    arguments.rows = kRows;
    arguments.x = {x.data(), 16, 0};
    arguments.y = {y.data(), 16, 0};
    const auto loop = [](void *, int64_t tasks, Task task, void *argument, int64_t) {
        for (int64_t index = 0; index < tasks; index++) {
            std::thread([&] {
                std::fesetround(FE_DOWNWARD);
                task(argument, index);
                EXPECT_EQ(std::fegetround(), FE_DOWNWARD) << "not given back";
            }).join();
        }
    };
    const nf_threads threads{loop, nullptr, 3};
    std::fesetround(FE_UPWARD);
    const nf_status status = nf_run_on(&thirds, &arguments, &threads);
    std::fesetround(FE_TONEAREST);
    ASSERT_EQ(status, NF_SUCCESS);
    EXPECT_EQ(y, std::vector<float>(x.size(), 0x1.555556p-2f));
}

}  // namespace
}  // namespace normforge
