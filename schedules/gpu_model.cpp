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
    {"a100", 108, 164 << 10, 2048, 2039e9, 1.41e9},  // of 80 GB
    {"h100", 132, 228 << 10, 2048, 3350e9, 1.83e9},  // SXM
    {"h200", 132, 228 << 10, 2048, 4800e9, 1.83e9},    {"b200", 148, 228 << 10, 2048, 8000e9, 1.85e9},
    {"rtx4090", 128, 100 << 10, 1536, 1008e9, 2.52e9},
};

int reductions(const NormProblem &problem, const GpuKnobs &knobs) {
    const bool quantises = problem.scale == NF_SCALE_PER_ROW;
    return (has_wide_range(problem) ? 1 : 0) + (knobs.sums == kTwoPass ? 2 : 1) + (quantises ? 1 : 0);
}

}  // namespace

std::span<const GpuDevice> gpu_devices() {
    return kDevices;
}

const GpuDevice &gpu_device(std::string_view name) {
    std::string names;
    for (const GpuDevice &device : kDevices) {
        if (device.name == name) {
            return device;
        }
        names += (names.empty() ? "" : ", ") + std::string(device.name);
    }
    throw UserError("no figures of a GPU '" + std::string(name) + "'; known are " + names);
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

double estimated_seconds(const GpuDevice &device, const NormProblem &problem, const GpuKnobs &knobs,
                         int64_t rows) {
    const BlockNeeds needs = block_needs(problem, knobs);
    const ThreadValues values = thread_values(problem, knobs);
    const int resident = blocks_of_processor(device, needs);
    const int64_t blocks = (rows - 1) / knobs.rows + 1;
    const double waves = std::ceil(static_cast<double>(blocks) / (device.processors * resident));

    const double merges =
        5 * kShuffleLatency +
        (knobs.warps > 1 ? kBarrierLatency + kSharedLatency + std::log2(knobs.warps) * kShuffleLatency : 0);
    const double held = values.chunks() * values.vector;
    const double passes = reductions(problem, knobs) + 1;
    const double warps = resident * needs.threads / static_cast<double>(kWarpThreads);
    const double computing = passes * held * kValueCycles * std::max(1.0, warps / kSchedulers);
    // Where a row is not held, every pass waits for the memory, and where registers hold it, for nothing.
    const double reads = knobs.place == kReadTwice ? passes : 1;
    const double held_reads = knobs.place == kSharedMemory ? passes * kSharedLatency : 0;
    const double cycles =
        (reads + 1) * kMemoryLatency + held_reads + reductions(problem, knobs) * merges + computing;
    const double moving = static_cast<double>(rows * needs.row_bytes) / device.bandwidth;
    return std::max(moving, waves * cycles / device.clock);
}

std::vector<GpuKnobs> ranked_schedules(const GpuDevice &device, const NormProblem &problem, int64_t rows) {
    GpuDevice endless = device;
    endless.bandwidth = HUGE_VAL;
    // Bytes decide most estimates: then the schedule that waits less, with wider accesses.
    struct Ranked {
        std::tuple<double, double, int> order;
        GpuKnobs knobs;
    };
    std::vector<Ranked> ranked;
    for (const GpuKnobs &knobs : enumerate_gpu(problem)) {
        ranked.push_back({{estimated_seconds(device, problem, knobs, rows),
                           estimated_seconds(endless, problem, knobs, rows), -knobs.access},
                          knobs});
    }
    std::ranges::stable_sort(ranked, {}, &Ranked::order);
    std::vector<GpuKnobs> schedules;
    std::ranges::transform(ranked, std::back_inserter(schedules), &Ranked::knobs);
    return schedules;
}

}  // namespace normforge
