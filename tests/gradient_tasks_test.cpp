#include "runtime/gradient_tasks.h"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

#include "runtime/gradient_sums.h"
#include "runtime/tasks.h"
#include "tests/summing_kernel.h"

namespace normforge {
namespace {

const NormProblem kOneSum = backward_problem("weight=f32,bias=none", 1);

TEST(AlignedRun, IsThePowerOfTwoThatFitsAndBeginsAtAMultipleOfItself) {
    EXPECT_EQ(aligned_run(0, 1), 1);
    EXPECT_EQ(aligned_run(0, 7), 4);
    EXPECT_EQ(aligned_run(0, 8), 8);
    EXPECT_EQ(aligned_run(1, 100), 1);
    EXPECT_EQ(aligned_run(6, 100), 2);
    EXPECT_EQ(aligned_run(96, 100), 4);
    EXPECT_EQ(aligned_run(96, 99), 2);
}

// Slices that count one each, so that a sum is the number of its slices.
TEST(SumsOfAPart, AreLeftOfItsAlignedRunsWithinItsWorkspace) {
    for (int64_t first = 0; first < 70; first++) {
        for (int64_t slices = 1; slices < 140; slices++) {
            const size_t room = 2 * static_cast<size_t>(std::bit_width(static_cast<uint64_t>(slices)));
            std::vector<float> workspace(room);
            GradientSums sums(kOneSum, workspace.data(), first);
            for (int64_t slice = 0; slice < slices; slice++) {
                ASSERT_LE(sums.weight_slot() + 2, workspace.data() + room) << "a slice and a part of it";
                *sums.weight_slot() = 1;
                sums.add_slice();
            }
            const float *left = workspace.data();
            for (int64_t slice = first; slice < first + slices; slice += aligned_run(slice, first + slices)) {
                ASSERT_EQ(*left++, aligned_run(slice, first + slices));
            }
            ASSERT_EQ(left, sums.weight_slot());
        }
    }
}

// The longest part of the slices that a task of such a call gets, whatever limits the number of tasks.
TEST(WorkspaceOfATask, SufficesForItsSlices) {
    const NormProblem narrow = backward_problem("weight=f32,bias=f32", 5);
    const NormProblem wide = backward_problem("weight=f32,bias=f32", 5000);
    for (const NormProblem &problem : {narrow, wide}) {
        for (const int64_t groups : {1, 3, 1000}) {
            for (int64_t rows = 1; rows < 3000; rows += 1 + rows / 8) {
                for (const int64_t threads : {2, 3, 7, 64, 5000}) {
                    const int64_t tasks = task_count(problem, rows, groups, threads);
                    const int64_t slices = ((rows - 1) / gradient_slice_rows(problem) + 1) * groups;
                    const auto longest = static_cast<uint64_t>((slices - 1) / tasks + 1);
                    const int64_t values = gradient_values_of_task(problem, rows, groups, threads);
                    if (tasks > 1) {
                        ASSERT_GE(values, 2 * std::bit_width(longest) * gradient_values(problem))
                            << rows << " rows of " << groups << " groups on " << threads;
                    }
                }
            }
        }
    }
}

TEST(WorkspaceOfTasks, GrowsWithTheRows) {
    const nf_kernel kernel = summing_kernel(backward_problem("weight=f32,bias=f32", 512));
    for (const int64_t threads : {0, 1, 2, 3, 7, 64, 5000}) {
        for (const int64_t groups : {1, 3, 100}) {
            int64_t before = 0;
            for (int64_t rows = 0; rows < 4000; rows++) {
                const int64_t bytes = nf_workspace_bytes_on(&kernel, rows, groups, threads);
                ASSERT_GE(bytes, before) << rows << " rows of " << groups << " groups on " << threads;
                ASSERT_GE(bytes, nf_workspace_bytes(&kernel, rows, groups));
                before = bytes;
            }
        }
    }
    EXPECT_EQ(nf_workspace_bytes_on(&kernel, 4000, 1, 1), nf_workspace_bytes(&kernel, 4000, 1));
    EXPECT_EQ(nf_workspace_bytes_on(&kernel, -1, 1, 7), 0);
    EXPECT_EQ(nf_workspace_bytes_on(&kernel, 1, -1, 7), 0);
    EXPECT_GT(nf_workspace_bytes_on(&kernel, INT64_MAX, INT64_MAX, INT64_MAX), 0);
}

TEST(WorkspaceOfTasks, IsNoneWithoutGradientsOfWeightAndBias) {
    const nf_kernel none = summing_kernel(backward_problem("weight=none,bias=none", 512));
    EXPECT_EQ(nf_workspace_bytes_on(&none, 4000, 1, 7), 0);
}

}  // namespace
}  // namespace normforge
