#include "schedules/gpu_model.h"

#include <gtest/gtest.h>

#include <string>

#include "runtime/cuda_slices.h"
#include "runtime/user_error.h"
#include "tests/gpu_problems.h"

namespace normforge {
namespace {

TEST(GpuDevices, AreFoundByName) {
    for (const GpuDevice &device : gpu_devices()) {
        EXPECT_EQ(&gpu_device(device.name), &device);
    }
    EXPECT_THROW(gpu_device("v100"), UserError);
}

struct Needs {
    int threads;
    int64_t shared_bytes;
    int registers;
    int blocks;
};

class BlocksOfAProcessor : public testing::TestWithParam<Needs> {};

// Of an H200.
TEST_P(BlocksOfAProcessor, AreWhatFits) {
    BlockNeeds needs{};
    needs.threads = GetParam().threads;
    needs.shared_bytes = GetParam().shared_bytes;
    needs.likely_registers = GetParam().registers;
    EXPECT_EQ(blocks_of_processor(gpu_device("h200"), needs), GetParam().blocks);
}

INSTANTIATE_TEST_SUITE_P(All, BlocksOfAProcessor,
                         testing::Values(Needs{1024, 0, 32, 2}, Needs{128, 0, 128, 4}, Needs{128, 96 << 10, 32, 2},
                                         Needs{32, 0, 32, 24}));

// No schedule is faster than the memory, and one that reads twice needs half as long again.
TEST(EstimatedSeconds, AreNoLessThanTheBytesNeed) {
    const GpuDevice &h200 = gpu_device("h200");
    const NormProblem problem = default_problem(NF_RMS_NORM, 4096);
    const double least = 16384.0 * 4096 * 8 / h200.bandwidth;
    for (const GpuKnobs &knobs : enumerate_gpu(problem)) {
        const double bytes_need = knobs.place == kReadTwice ? 1.5 * least : least;
        EXPECT_GE(estimate(h200, problem, knobs, 16384).seconds(), bytes_need) << to_text(knobs);
    }
    EXPECT_DOUBLE_EQ(estimate(h200, problem, gpu_heuristic(problem), 16384).seconds(), least);
}

// One row waits as long on a device of twice the bandwidth.
TEST(EstimatedSeconds, OfOneRowAreLatency) {
    const NormProblem problem = default_problem(NF_LAYER_NORM, 1024);
    const double seconds = estimate(gpu_device("h100"), problem, gpu_heuristic(problem), 1).seconds();
    EXPECT_EQ(seconds, estimate(gpu_device("h200"), problem, gpu_heuristic(problem), 1).seconds());
    EXPECT_GT(seconds, 0.5e-6);
    EXPECT_LT(seconds, 10e-6);
}

// Warps wait for one another only where a processor has more than it can run at once.
TEST(EstimatedSeconds, OfOneRowAreLessThanOfAFullDevice) {
    const GpuDevice &h200 = gpu_device("h200");
    const NormProblem problem = default_problem(NF_RMS_NORM, 1024);
    const GpuKnobs knobs = gpu_heuristic(problem);
    const GpuEstimate one = estimate(h200, problem, knobs, 1);
    const int64_t full = int64_t{h200.processors} * one.blocks_of_processor * knobs.rows;
    EXPECT_EQ(estimate(h200, problem, knobs, full).waves, 1);
    EXPECT_EQ(estimate(h200, problem, knobs, full + 1).waves, 2);
    EXPECT_LT(one.waiting, estimate(h200, problem, knobs, full).waiting);
}

// As many as the table in docs/cuda.md has, within a third, and no fewer than a quarter below.
class LikelyRegisters : public testing::TestWithParam<std::pair<const char *, int>> {};

TEST_P(LikelyRegisters, AreAboutTheAssemblers) {
    const auto &[text, assembled] = GetParam();
    const NormProblem problem = parse_problem(text);
    const int likely = block_needs(problem, gpu_heuristic(problem)).likely_registers;
    EXPECT_LE(likely, assembled * 4 / 3);
    EXPECT_GE(likely, assembled * 3 / 4);
}

INSTANTIATE_TEST_SUITE_P(
    Gradients, LikelyRegisters,
    testing::Values(std::pair{"op=layer_norm,pass=backward,saved_statistics=yes,dtype=f32,hidden=1024", 142},
                    std::pair{"op=layer_norm,pass=backward,saved_statistics=yes,dtype=f32,hidden=4096", 64},
                    std::pair{"op=rms_norm,pass=backward,saved_statistics=yes,dtype=bf16,hidden=1024", 87},
                    std::pair{"op=rms_norm,pass=backward,saved_statistics=yes,dtype=bf16,hidden=4096", 62}));

class EstimatedGradients : public testing::Test {
protected:
    GpuEstimate of(const char *text, int64_t rows) const {
        const NormProblem problem = parse_problem(text);
        return estimate(device_, problem, gpu_heuristic(problem), rows);
    }

    const GpuDevice &device_ = gpu_device("h200");
};

// Many rows wait for the memory: in both launches, where the second one's blocks are a device full.
TEST_F(EstimatedGradients, OfManyRowsAreNoLessThanTheBytesNeed) {
    const GpuEstimate estimated =
        of("op=layer_norm,pass=backward,saved_statistics=yes,dtype=f32,hidden=4096", 65536);
    const double rows_of_slice = 64;
    EXPECT_GE(estimated.seconds(), static_cast<double>(estimated.bytes) / device_.bandwidth);
    EXPECT_DOUBLE_EQ(estimated.moving * device_.bandwidth, 65536.0 * (4096 * (12 + 8 / rows_of_slice) + 8));
    EXPECT_EQ(estimated.seconds(), estimated.moving + estimated.adding);
}

// Without weight and bias there is no second launch, and none of its bytes.
TEST_F(EstimatedGradients, HaveASecondLaunchForSums) {
    const char *with = "op=rms_norm,pass=backward,saved_statistics=yes,dtype=f32,hidden=4096";
    const char *without = "op=rms_norm,pass=backward,saved_statistics=yes,dtype=f32,weight=none,hidden=4096";
    EXPECT_GT(of(with, 512).adding, 1e-6);
    EXPECT_EQ(of(without, 512).adding, 0);
    EXPECT_EQ(of(without, 512).bytes, int64_t{512} * (4096 * 12 + 4));
    EXPECT_EQ(of(with, 512).bytes, int64_t{512} * (4096 * 12 + 4) +
                                       2 * cuda_workspace_bytes(parse_problem(with), 512, 1, 1) +
                                       int64_t{4096} * 4);
}

// The rows of a slice, 4 or more, wait one after the other: 4096 slices of rows of 1024 values are there for 16384
// to 262144 rows.
TEST_F(EstimatedGradients, WaitForAllRowsOfASlice) {
    const char *problem = "op=layer_norm,pass=backward,saved_statistics=yes,dtype=f32,hidden=1024";
    const GpuEstimate few = of(problem, 16384);
    const GpuEstimate many = of(problem, 262144);
    EXPECT_EQ(few.waves, many.waves);
    EXPECT_EQ(few.adding, many.adding);
    EXPECT_GT(many.waiting, few.waiting * 12);
    EXPECT_LT(many.waiting, few.waiting * 16);
}

// But where rows are so short that only latency counts.
TEST(RankedSchedules, AreAllAndTheFirstMovesEachByteOnce) {
    std::vector<NormProblem> problems = gpu_problems();
    const std::vector<NormProblem> gradients = gpu_gradients();
    problems.insert(problems.end(), gradients.begin(), gradients.end());
    for (const NormProblem &problem : problems) {
        for (const GpuDevice &device : gpu_devices()) {
            const std::vector<GpuKnobs> ranked = ranked_schedules(device, problem, 16384);
            EXPECT_EQ(ranked.size(), enumerate_gpu(problem).size());
            if (problem.hidden >= 256 && gpu_heuristic(problem).place != kReadTwice) {
                EXPECT_EQ(block_needs(problem, ranked.front()).row_bytes, row_bytes(problem))
                    << device.name << " " << to_text(problem) << " " << to_text(ranked.front());
            }
        }
    }
}

}  // namespace
}  // namespace normforge
