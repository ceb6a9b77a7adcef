#include "schedules/gpu_model.h"

#include <gtest/gtest.h>

#include <string>

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

// Of an H200; as many registers as needed are 32 fewer than reckoned with.
TEST_P(BlocksOfAProcessor, AreWhatFits) {
    BlockNeeds needs{};
    needs.threads = GetParam().threads;
    needs.shared_bytes = GetParam().shared_bytes;
    needs.registers = GetParam().registers;
    EXPECT_EQ(blocks_of_processor(gpu_device("h200"), needs), GetParam().blocks);
}

INSTANTIATE_TEST_SUITE_P(All, BlocksOfAProcessor,
                         testing::Values(Needs{1024, 0, 64, 2}, Needs{128, 0, 160, 4}, Needs{128, 96 << 10, 64, 2},
                                         Needs{32, 0, 64, 24}));

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

// But where rows are so short that only latency counts.
TEST(RankedSchedules, AreAllAndTheFirstMovesEachByteOnce) {
    for (const NormProblem &problem : gpu_problems()) {
        for (const GpuDevice &device : gpu_devices()) {
            const std::vector<GpuKnobs> ranked = ranked_schedules(device, problem, 16384);
            EXPECT_EQ(ranked.size(), enumerate_gpu(problem).size());
            if (problem.hidden >= 256) {
                EXPECT_EQ(block_needs(problem, ranked.front()).row_bytes, row_bytes(problem))
                    << device.name << " " << to_text(problem) << " " << to_text(ranked.front());
            }
        }
    }
}

}  // namespace
}  // namespace normforge
