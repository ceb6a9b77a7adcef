#include "schedules/gpu_model.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <tuple>

#include "runtime/cuda_slices.h"
#include "runtime/gradient_sums.h"
#include "runtime/user_error.h"
#include "schedules/knobs.h"
#include "schedules/schedule_gpu_sums.h"

namespace normforge {

namespace {

constexpr int kRegistersOfProcessor = 65536;
constexpr int kMostBlocks = 24;  // that every device has room for

// Cycles, about as microbenchmarks of these devices have found them.
constexpr double kMemoryLatency = 700;
constexpr double kCacheLatency = 250;  // of the cache that all processors share
constexpr double kSharedLatency = 30;
constexpr double kShuffleLatency = 25;  // and the operations of a merge
constexpr double kBarrierLatency = 40;
constexpr double kValueCycles = 4;    // for each value of a thread, in each pass over them
constexpr double kTwoSumCycles = 28;  // of seven operations, one after the other

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
    if (problem.pass == NF_BACKWARD) {
        return problem.epsilon_place == NF_ON_DEVIATION ? 2 : 1;
    }
    const bool quantises = problem.scale == NF_SCALE_PER_ROW;
    return (has_wide_range(problem) ? 1 : 0) + (knobs.sums == kTwoPass ? 2 : 1) + (quantises ? 1 : 0);
}

// Of the sums over rows, for a slice of them.
int64_t partial_sums(const NormProblem &problem) {
    return problem.pass == NF_BACKWARD ? gradient_values(problem) : 0;
}

double waves(const GpuDevice &device, int64_t blocks, int blocks_of_processor) {
    return std::ceil(static_cast<double>(blocks) / (device.processors * blocks_of_processor));
}

// Of a row in a thread, where a processor has so many warps at a time, without the writing.
double row_cycles(const NormProblem &problem, const GpuKnobs &knobs, double warps) {
    const ThreadValues values = thread_values(problem, knobs);
    const double merges =
        5 * kShuffleLatency +
        (knobs.warps > 1 ? kBarrierLatency + kSharedLatency + std::log2(knobs.warps) * kShuffleLatency : 0);
    const int numbers = problem.pass == NF_BACKWARD ? 2 : 1;  // h and dy
    const double held = values.chunks() * values.vector * numbers;
    const double passes = reductions(problem, knobs) + 1;
    const double computing = passes * held * kValueCycles * std::max(1.0, warps / kSchedulers);
    // Where a row is not held, every pass waits for the memory, and where registers hold it, for nothing.
    const double reads = knobs.place == kReadTwice ? passes : 1;
    const double held_reads = knobs.place == kSharedMemory ? passes * kSharedLatency : 0;
    const double sums = partial_sums(problem) > 0 ? kCacheLatency : 0;
    return reads * kMemoryLatency + held_reads + sums + reductions(problem, knobs) * merges + computing;
}

// Backward's launch that adds up the partial sums.
struct Adding {
    int64_t bytes;
    double seconds;
};

Adding adding(const GpuDevice &device, const NormProblem &problem, int64_t slices) {
    const int64_t values = partial_sums(problem);
    if (values == 0) {
        return {};
    }
    const int64_t types = values / problem.hidden;
    BlockNeeds needs{};
    needs.threads = kSumValues * kSumParts;
    needs.shared_bytes =
        2 * types * needs.threads * static_cast<int64_t>(sizeof(float));  // sums, with their errors
    needs.likely_registers = 32;
    const int64_t blocks = (problem.hidden - 1) / kSumValues + 1;
    const int64_t steps = (slices - 1) / kSumParts + 1;
    const double added = static_cast<double>(types) * kTwoSumCycles;
    const double cycles = static_cast<double>(steps) * (kMemoryLatency + added) + kBarrierLatency +
                          kSumParts * (kSharedLatency + added) + kMemoryLatency;
    Adding result{};
    const size_t stored = element_size(problem.weight) + element_size(problem.bias);
    result.bytes =
        slices * values * static_cast<int64_t>(sizeof(float)) + problem.hidden * static_cast<int64_t>(stored);
    result.seconds = std::max(static_cast<double>(result.bytes) / device.bandwidth,
                              waves(device, blocks, blocks_of_processor(device, needs)) * cycles / device.clock);
    return result;
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
    blocks = std::min<int64_t>(blocks, kRegistersOfProcessor / (needs.likely_registers * needs.threads));
    if (needs.shared_bytes > 0) {
        blocks = std::min(blocks, device.shared_bytes / needs.shared_bytes);
    }
    return static_cast<int>(std::max<int64_t>(1, blocks));
}

GpuEstimate estimate(const GpuDevice &device, const NormProblem &problem, const GpuKnobs &knobs, int64_t rows) {
    const BlockNeeds needs = block_needs(problem, knobs);
    GpuEstimate estimate{};
    estimate.blocks_of_processor = blocks_of_processor(device, needs);
    estimate.occupancy = estimate.blocks_of_processor * needs.threads / static_cast<double>(device.threads);
    const int64_t slices = problem.pass == NF_BACKWARD ? cuda_slices(problem, rows) : rows;
    const int64_t rows_of_slice = (rows - 1) / slices + 1;
    const int64_t blocks = (slices - 1) / knobs.rows + 1;
    const int64_t given = std::min<int64_t>(estimate.blocks_of_processor, (blocks - 1) / device.processors + 1);
    estimate.waves = waves(device, blocks, estimate.blocks_of_processor);

    const double warps = static_cast<double>(given * needs.threads) / kWarpThreads;
    const double cycles = static_cast<double>(rows_of_slice) * row_cycles(problem, knobs, warps) + kMemoryLatency;
    const int64_t bytes =
        rows * needs.row_bytes + slices * partial_sums(problem) * static_cast<int64_t>(sizeof(float));
    estimate.moving = static_cast<double>(bytes) / device.bandwidth;
    estimate.waiting = estimate.waves * cycles / device.clock;
    const Adding sums = adding(device, problem, slices);
    estimate.bytes = bytes + sums.bytes;
    estimate.adding = sums.seconds;
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
