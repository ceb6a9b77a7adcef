#include "schedules/gpu_space.h"

#include <algorithm>
#include <bit>

#include "runtime/operands.h"
#include "runtime/user_error.h"
#include "schedules/knobs.h"

namespace normforge {

namespace {

// What a block may have on every device from compute capability 8.0 on. Of shared memory those of 8.6 and 8.9 have
// the least.
constexpr int kMostThreads = 1024;
constexpr int64_t kMostSharedBytes = 99 << 10;

// A thread has up to 255 registers. With 128 values that are read one by one, ptxas spills.
constexpr int kMostHeldValues = 96;
constexpr int kRegistersOfBlock = 65536;

// Of forward passes, which the assembler takes fewer for than check() reckons with.
constexpr int kSparedRegisters = 32;

// Of 4 bytes, that warps leave to one another: the largest magnitudes of the row and of y, and moments. Gradients
// have fewer.
constexpr int kMostTotals = 6;

// Whether the row's mean is to be found.
bool has_pivots(const NormProblem &problem) {
    return problem.op == NF_LAYER_NORM && problem.pass == NF_FORWARD;
}

int64_t held_bytes(const NormProblem &problem, const ThreadValues &values) {
    const int64_t of_h = values.are_sums ? static_cast<int64_t>(sizeof(float)) : bytes_of_h(problem);
    return of_h + static_cast<int64_t>(element_size(operand_type(problem, operand(OperandId::dy))));
}

// Of registers, in which a thread has the row as it is stored.
int held_words(const NormProblem &problem, const ThreadValues &values, const GpuKnobs &knobs) {
    const int64_t bytes = int64_t{values.vector} * values.chunks() * held_bytes(problem, values);
    return knobs.place == kRegisters ? static_cast<int>(bytes / static_cast<int64_t>(sizeof(float))) : 0;
}

bool holds_pivots(const ThreadValues &values) {
    // Threads without a value in the only chunk need no pivot.
    return values.vector * std::max(values.full_chunks, 1) >= 3;
}

// Why no schedule serves the problem.
std::string refusal(const NormProblem &problem) {
    if (problem.portable == NF_YES) {
        return "portable kernels are the CPU's";
    }
    return "";
}

// In which the widest of the row's operands is moved by 16 bytes, but of 16-bit values only as long as all threads
// of a warp have a vector.
int widest_access(const NormProblem &problem) {
    constexpr int64_t kBytes = 16;
    constexpr int64_t kFewValues = 4;
    size_t widest = 0;
    for (const Operand &operand : kOperands) {
        if (operand.shape == OperandShape::rows) {
            widest = std::max(widest, element_size(operand_type(problem, operand)));
        }
    }
    auto values = kBytes / static_cast<int64_t>(widest);
    while (problem.hidden % values != 0 || (values > kFewValues && problem.hidden / values < kWarpThreads)) {
        values /= 2;
    }
    return static_cast<int>(values) * static_cast<int>(element_size(problem.dtype));
}

}  // namespace

BlockNeeds block_needs(const NormProblem &problem, const GpuKnobs &knobs) {
    const ThreadValues values = thread_values(problem, knobs);
    BlockNeeds needs{};
    needs.threads = values.threads * knobs.rows;
    const int64_t held = int64_t{values.vector} * values.chunks();
    const int held_numbers = problem.pass == NF_BACKWARD ? 2 : 1;  // h and dy
    needs.held_values = knobs.place == kRegisters ? held_numbers * static_cast<int>(held) : 0;
    needs.registers = std::min(255, 64 + 2 * needs.held_values);
    needs.likely_registers =
        problem.pass == NF_BACKWARD ? 64 + held_words(problem, values, knobs) : needs.registers - kSparedRegisters;
    if (knobs.warps > 1) {
        needs.shared_bytes = int64_t{values.threads} * kMostTotals * 4;
    }
    if (knobs.place == kSharedMemory) {
        needs.shared_bytes += held * values.threads * held_bytes(problem, values);
    }
    for (const Operand &operand : kOperands) {
        const nf_dtype type = operand_type(problem, operand);
        if (operand.shape == OperandShape::rows && type != NF_NONE) {
            // dsum is of the gradients that are written, not of the sums.
            const bool is_read_again =
                !is_written(problem, operand) && operand.id != OperandId::dsum && knobs.place == kReadTwice;
            const auto bytes = static_cast<int64_t>(element_size(type)) * problem.hidden;
            needs.row_bytes += is_read_again ? 2 * bytes : bytes;
        } else if (operand.shape == OperandShape::row_values) {
            needs.row_bytes += static_cast<int64_t>(element_size(type));
        }
    }
    return needs;
}

std::string check(const NormProblem &problem, const GpuKnobs &knobs) {
    if (const std::string reason = refusal(problem); !reason.empty()) {
        return reason;
    }
    if (has_pivots(problem) == (knobs.sums == kPlain)) {
        return "sums=lane_pivot and two_pass are for layer_norm, plain for rms_norm and gradients";
    }
    const int value_bytes = static_cast<int>(element_size(problem.dtype));
    if (knobs.access < value_bytes) {
        return "access is less than a value";
    }
    if (problem.hidden % (knobs.access / value_bytes) != 0) {
        return "access is for rows of whole vectors";
    }
    const ThreadValues values = thread_values(problem, knobs);
    if (values.full_chunks == 0 && knobs.warps > 1) {
        return "warps have more threads than the row has vectors";
    }
    if (knobs.sums == kLanePivot && !holds_pivots(values)) {
        return "sums=lane_pivot needs three values in every thread";
    }
    if (knobs.rows > 1 && knobs.warps > 1) {
        return "rows is for rows of one warp each";
    }
    if ((knobs.place == kRegisters) != (knobs.warps == 1) && knobs.place != kReadTwice) {
        return "place=registers is for rows of one warp, shared_memory for those of several";
    }
    const BlockNeeds needs = block_needs(problem, knobs);
    if (needs.held_values > kMostHeldValues) {
        return "the row has more values than the warp's registers hold";
    }
    if (needs.shared_bytes > kMostSharedBytes) {
        return "the block needs more shared memory than devices have for one";
    }
    if (needs.threads * needs.registers > kRegistersOfBlock) {
        return "the block may need more registers than devices have for one";
    }
    return needs.threads > kMostThreads ? "a block has at most 1024 threads" : "";
}

std::vector<GpuKnobs> enumerate_gpu(const NormProblem &problem) {
    std::vector<GpuKnobs> all = all_knobs(gpu_knob_table());
    std::erase_if(all, [&](const GpuKnobs &knobs) { return !check(problem, knobs).empty(); });
    return all;
}

GpuKnobs gpu_heuristic(const NormProblem &problem) {
    if (const std::string reason = refusal(problem); !reason.empty()) {
        throw UserError(to_text(problem) + ": " + reason);
    }
    GpuKnobs knobs{};
    const int value_bytes = static_cast<int>(element_size(problem.dtype));
    knobs.access = widest_access(problem);
    // A warp holds short rows in its registers, some of them a block so that blocks have 128 threads or more.
    // Longer ones are in shared memory, with two vectors or more for each thread: fewer would not pay for the
    // merge of the warps.
    // Gradients hold dy as well.
    const int64_t longest_row_of_a_warp = problem.pass == NF_BACKWARD ? 1024 : 2048;
    const int vector = knobs.access / value_bytes;
    const int64_t vectors = problem.hidden / vector;
    knobs.warps = 1;
    knobs.rows = 4;
    knobs.place = kRegisters;
    if (problem.hidden > longest_row_of_a_warp) {
        knobs.rows = 1;
        knobs.place = kSharedMemory;
        const auto most_warps = static_cast<uint64_t>(vectors / (int64_t{2} * kWarpThreads));
        knobs.warps = static_cast<int>(std::clamp<uint64_t>(std::bit_floor(most_warps), 2, 32));
    }
    knobs.sums = !has_pivots(problem)                          ? kPlain
                 : holds_pivots(thread_values(problem, knobs)) ? kLanePivot
                                                               : kTwoPass;
    if (block_needs(problem, knobs).shared_bytes > kMostSharedBytes) {
        knobs.place = kReadTwice;
    }
    return knobs;
}

}  // namespace normforge
