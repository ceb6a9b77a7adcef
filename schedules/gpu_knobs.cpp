#include "schedules/gpu_knobs.h"

#include "runtime/operands.h"
#include "schedules/knobs.h"

namespace normforge {

std::span<const GpuKnob> gpu_knob_table() {
    static const std::vector<GpuKnob> table = {
        {"sums",
         &GpuKnobs::sums,
         {{kLanePivot, "lane_pivot"}, {kTwoPass, "two_pass"}, {kPlain, "plain"}},
         "how the sums of a row are taken"},
        {"access", &GpuKnobs::access, numbers({2, 4, 8, 16}), "bytes of the row that a thread reads at once"},
        {"warps", &GpuKnobs::warps, numbers({1, 2, 4, 8, 16, 32}), "warps for a row"},
        {"rows", &GpuKnobs::rows, numbers({1, 2, 4, 8, 16}), "rows of a block"},
        {"place",
         &GpuKnobs::place,
         {{kRegisters, "registers"}, {kSharedMemory, "shared_memory"}, {kReadTwice, "read_twice"}},
         "where a row is between its sums and its values"},
    };
    return table;
}

std::string to_text(const GpuKnobs &knobs) {
    return knobs_text(gpu_knob_table(), knobs);
}

GpuKnobs parse_gpu_knobs(std::string_view text) {
    return parsed_knobs(gpu_knob_table(), text);
}

int64_t bytes_of_h(const NormProblem &problem) {
    int64_t bytes = 0;
    for (const Operand &operand : kOperands) {
        const bool is_part_of_h = operand.id == OperandId::x || operand.id == OperandId::residual ||
                                  (operand.id == OperandId::sum && !is_written(problem, operand));
        bytes += is_part_of_h ? static_cast<int64_t>(element_size(operand_type(problem, operand))) : 0;
    }
    return bytes;
}

ThreadValues thread_values(const NormProblem &problem, const GpuKnobs &knobs) {
    ThreadValues values{};
    values.hidden = static_cast<int>(problem.hidden);
    values.vector = knobs.access / static_cast<int>(element_size(problem.dtype));
    values.threads = kWarpThreads * knobs.warps;
    const int vectors = values.hidden / values.vector;
    values.full_chunks = vectors / values.threads;
    values.tail_vectors = vectors % values.threads;
    values.are_sums = bytes_of_h(problem) > static_cast<int64_t>(sizeof(float));
    return values;
}

}  // namespace normforge
