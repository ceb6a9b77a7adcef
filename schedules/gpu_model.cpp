#include "schedules/gpu_model.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <tuple>

#include "runtime/user_error.h"
#include "schedules/knobs.h"

namespace normforge {

namespace {

constexpr int kRegistersOfProcessor = 65536;
constexpr int kMostBlocks = 24;  // that every device has room for

// Cycles, about as microbenchmarks of these devices have found them.
constexpr double kMemoryLatency = 700;
constexpr double kSharedLatency = 30;
constexpr double kShuffleLatency = 25;  // and the operations of a merge
constexpr double kBarrierLatency = 40;
constexpr double kValueCycles = 4;  // for each value of a thread, in each pass over them

// The assembler takes about that many fewer than check() reckons with: the table in docs/cuda.md.
constexpr int kSparedRegisters = 32;

// Warps that a processor runs at once without one waiting for another.
constexpr double kSchedulers = 4;

constexpr GpuDevice kDevices[] = {
    {"a100", "NVIDIA A100-SXM4-80GB", {8, 0}, 108, 164 << 10, 40 << 20, 2048, 2039e9, 1.41e9},
    {"h100", "NVIDIA H100 80GB HBM3", {9, 0}, 132, 228 << 10, 50 << 20, 2048, 3350e9, 1.83e9},
    {"h200", "NVIDIA H200", {9, 0}, 132, 228 << 10, 60 << 20, 2048, 4800e9, 1.83e9},
    {"b200", "NVIDIA B200", {10, 0}, 148, 228 << 10, 126 << 20, 2048, 8000e9, 1.85e9},
    {"rtx4090", "NVIDIA GeForce RTX 4090", {8, 9}, 128, 100 << 10, 72 << 20, 1536, 1008e9, 2.52e9},
};

int reductions(const NormProblem &problem, const GpuKnobs &knobs) {
    const bool quantises = problem.scale == NF_SCALE_PER_ROW;
    return (has_wide_range(problem) ? 1 : 0) + (knobs.sums == kTwoPass ? 2 : 1) + (quantises ? 1 : 0);
}

}  // namespace

std::span<const GpuDevice> gpu_devices() {
    return kDevices;
}

std::string gpu_names() {
    std::string names;
    for (const GpuDevice &device : kDevices) {
        names += (names.empty() ? "" : ", ") + std::string(device.name);
    }
    return names;
}

const GpuDevice &gpu_device(std::string_view name) {
    const auto *found = std::ranges::find(kDevices, name, &GpuDevice::name);
    if (found == std::end(kDevices)) {
        throw UserError("the static model has no GPU '" + std::string(name) + "'; known are " + gpu_names());
    }
    return *found;
}

int blocks_of_processor(const GpuDevice &device, const BlockNeeds &needs) {
    int64_t blocks = std::min(kMostBlocks, device.threads / needs.threads);
    blocks =
        std::min<int64_t>(blocks, kRegistersOfProcessor / ((needs.registers - kSparedRegisters) * needs.threads));
    if (needs.shared_bytes > 0) {
        blocks = std::min(blocks, device.shared_bytes / needs.shared_bytes);
    }
    return static_cast<int>(std::max<int64_t>(1, blocks));
}

GpuEstimate estimate(const GpuDevice &device, const NormProblem &problem, const GpuKnobs &knobs, int64_t rows) {
    const BlockNeeds needs = block_needs(problem, knobs);
    const ThreadValues values = thread_values(problem, knobs);
    GpuEstimate estimate{};
    estimate.blocks_of_processor = blocks_of_processor(device, needs);
    estimate.occupancy = estimate.blocks_of_processor * needs.threads / static_cast<double>(device.threads);
    const int64_t blocks = (rows - 1) / knobs.rows + 1;
    const int64_t given = std::min<int64_t>(estimate.blocks_of_processor, (blocks - 1) / device.processors + 1);
    estimate.waves = std::ceil(static_cast<double>(blocks) / (device.processors * estimate.blocks_of_processor));

    const double merges =
        5 * kShuffleLatency +
        (knobs.warps > 1 ? kBarrierLatency + kSharedLatency + std::log2(knobs.warps) * kShuffleLatency : 0);
    const double held = values.chunks() * values.vector;
    const double passes = reductions(problem, knobs) + 1;
    const double warps = static_cast<double>(given * needs.threads) / kWarpThreads;
    const double computing = passes * held * kValueCycles * std::max(1.0, warps / kSchedulers);
    // Where a row is not held, every pass waits for the memory, and where registers hold it, for nothing.
    const double reads = knobs.place == kReadTwice ? passes : 1;
    const double held_reads = knobs.place == kSharedMemory ? passes * kSharedLatency : 0;
    const double cycles =
        (reads + 1) * kMemoryLatency + held_reads + reductions(problem, knobs) * merges + computing;
    estimate.bytes = rows * needs.row_bytes;
    estimate.moving = static_cast<double>(estimate.bytes) / device.bandwidth;
    estimate.waiting = estimate.waves * cycles / device.clock;
    return estimate;
}

std::vector<GpuKnobs> ranked_schedules(const GpuDevice &device, const NormProblem &problem, int64_t rows) {
    // Bytes decide most estimates: then the schedule that waits less, with wider accesses.
    struct Ranked {
        std::tuple<double, double, int> order;
        GpuKnobs knobs;
    };
    std::vector<Ranked> ranked;
    for (const GpuKnobs &knobs : enumerate_gpu(problem)) {
        const GpuEstimate estimated = estimate(device, problem, knobs, rows);
        ranked.push_back({{estimated.seconds(), estimated.waiting, -knobs.access}, knobs});
    }
    std::ranges::stable_sort(ranked, {}, &Ranked::order);
    std::vector<GpuKnobs> schedules;
    std::ranges::transform(ranked, std::back_inserter(schedules), &Ranked::knobs);
    return schedules;
}

}  // namespace normforge
