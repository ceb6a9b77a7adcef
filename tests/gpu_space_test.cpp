#include "schedules/gpu_space.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "runtime/user_error.h"
#include "schedules/knobs.h"
#include "tests/gpu_problems.h"

namespace normforge {
namespace {

TEST(GpuKnobs, TextGivesTheKnobsAgain) {
    for (const GpuKnobs &knobs : all_knobs(gpu_knob_table())) {
        EXPECT_EQ(parse_gpu_knobs(to_text(knobs)), knobs) << to_text(knobs);
    }
    EXPECT_THROW(parse_gpu_knobs("sums=plain,access=16,warps=1,rows=4"), UserError);
    EXPECT_THROW(parse_gpu_knobs("sums=plain,access=16,warps=3,rows=4,place=registers"), UserError);
}

// Every value of a row belongs to one thread.
TEST(ThreadValues, AreAllOfTheRow) {
    std::vector<NormProblem> problems = gpu_problems();
    const std::vector<NormProblem> gradients = gpu_gradients();
    problems.insert(problems.end(), gradients.begin(), gradients.end());
    for (const NormProblem &problem : problems) {
        for (const GpuKnobs &knobs : enumerate_gpu(problem)) {
            const ThreadValues values = thread_values(problem, knobs);
            const int vectors = values.full_chunks * values.threads + values.tail_vectors;
            EXPECT_EQ(vectors * values.vector, problem.hidden) << to_text(knobs);
            EXPECT_LT(values.tail_vectors, values.threads);
        }
    }
}

struct Refused {
    const char *problem;
    const char *knobs;
    const char *reason;  // a part of it
};

class GpuCheckTest : public testing::TestWithParam<Refused> {};

TEST_P(GpuCheckTest, SaysWhy) {
    const std::string reason = check(parse_problem(GetParam().problem), parse_gpu_knobs(GetParam().knobs));
    EXPECT_NE(reason.find(GetParam().reason), std::string::npos) << "'" << reason << "'";
}

INSTANTIATE_TEST_SUITE_P(
    All, GpuCheckTest,
    testing::Values(Refused{"op=layer_norm,dtype=f32,hidden=64,pass=backward,saved_statistics=yes",
                            "sums=two_pass,access=4,warps=1,rows=1,place=registers", "gradients"},
                    Refused{"op=rms_norm,dtype=f32,hidden=2048,pass=backward,saved_statistics=yes",
                            "sums=plain,access=16,warps=1,rows=1,place=registers", "registers hold"},
                    Refused{"op=rms_norm,dtype=f32,hidden=16384,pass=backward,saved_statistics=yes",
                            "sums=plain,access=16,warps=8,rows=1,place=shared_memory", "shared memory"},
                    Refused{"op=rms_norm,dtype=f32,hidden=64,portable=yes",
                            "sums=plain,access=4,warps=1,rows=1,place=registers", "portable"},
                    Refused{"op=rms_norm,dtype=f32,hidden=64",
                            "sums=two_pass,access=4,warps=1,rows=1,place=registers",
                            "sums=lane_pivot and two_pass"},
                    Refused{"op=rms_norm,dtype=f32,hidden=64",
                            "sums=plain,access=2,warps=1,rows=1,place=registers", "less than a value"},
                    Refused{"op=rms_norm,dtype=f32,hidden=66",
                            "sums=plain,access=16,warps=1,rows=1,place=registers", "whole vectors"},
                    Refused{"op=rms_norm,dtype=f32,hidden=64",
                            "sums=plain,access=4,warps=4,rows=1,place=shared_memory", "more threads than"},
                    Refused{"op=layer_norm,dtype=f32,hidden=64",
                            "sums=lane_pivot,access=4,warps=1,rows=1,place=registers", "three values"},
                    Refused{"op=rms_norm,dtype=f32,hidden=4096",
                            "sums=plain,access=16,warps=2,rows=2,place=shared_memory", "one warp each"},
                    Refused{"op=rms_norm,dtype=f32,hidden=4096",
                            "sums=plain,access=16,warps=2,rows=1,place=registers", "place=registers"},
                    Refused{"op=rms_norm,dtype=f32,hidden=8192",
                            "sums=plain,access=16,warps=1,rows=1,place=registers", "registers hold"},
                    Refused{"op=rms_norm,dtype=f32,hidden=32768",
                            "sums=plain,access=16,warps=8,rows=1,place=shared_memory", "shared memory"},
                    Refused{"op=rms_norm,dtype=f32,hidden=2048",
                            "sums=plain,access=16,warps=1,rows=16,place=registers", "more registers"}));

TEST(GpuHeuristic, IsLegalWithAccessesAsWideAsTheyGo) {
    std::vector<NormProblem> problems = gpu_problems();
    for (const std::vector<NormProblem> &more : {other_gpu_problems(), gpu_gradients(), other_gpu_gradients()}) {
        problems.insert(problems.end(), more.begin(), more.end());
    }
    for (const NormProblem &problem : problems) {
        const GpuKnobs knobs = gpu_heuristic(problem);
        EXPECT_EQ(check(problem, knobs), "") << to_text(problem) << " " << to_text(knobs);
        // A row of f32 beside one of 16 bits has the wider accesses.
        const bool is_mixed = problem.dtype != NF_F32 && (problem.residual == NF_F32);
        if (problem.hidden % 256 == 0) {
            EXPECT_EQ(knobs.access, is_mixed ? 8 : 16) << to_text(problem);
        } else if (problem.hidden % 4 == 0) {
            EXPECT_GE(knobs.access, 4 * static_cast<int>(element_size(problem.dtype))) << to_text(problem);
        }
    }
    EXPECT_THROW(gpu_heuristic(parse_problem("op=rms_norm,dtype=f32,hidden=64,portable=yes")), UserError);
}

// What each row must move at least is moved, unless the row is on no chip.
TEST(BlockNeeds, MoveEachByteOnce) {
    for (const NormProblem &problem : gpu_problems()) {
        const GpuKnobs knobs = gpu_heuristic(problem);
        EXPECT_NE(knobs.place, kReadTwice) << to_text(problem);
        EXPECT_EQ(block_needs(problem, knobs).row_bytes, row_bytes(problem)) << to_text(problem);
    }
}

}  // namespace
}  // namespace normforge
