#include "autotune/model/static_time.h"

#include <algorithm>

#include "runtime/operands.h"

namespace normforge {

namespace {

// Bytes of a problem's operands.
struct OperandBytes {
    double read = 0;     // a row
    double written = 0;  // a row
    double shared = 0;   // by all rows
};

OperandBytes operand_bytes(const NormProblem &problem) {
    OperandBytes bytes;
    for (const Operand &operand : kOperands) {
        const nf_dtype type = operand_type(problem, operand);
        if (type == NF_NONE) {
            continue;
        }
        const auto values = static_cast<double>(problem.hidden) * static_cast<double>(element_size(type));
        if (operand.shape == OperandShape::rows) {
            (is_written(problem, operand) ? bytes.written : bytes.read) += values;
        } else if (operand.shape == OperandShape::vector) {
            bytes.shared += values;
        }
    }
    return bytes;
}

// Bytes a cycle, of the level that holds so many.
double bandwidth_of(const KnownCpu &cpu, double bytes) {
    const auto l3 = static_cast<double>(cpu.l3_bytes);
    return bytes <= static_cast<double>(cpu.l2_bytes) ? cpu.l2_bandwidth
           : bytes <= l3                              ? cpu.l3_bandwidth
                                                      : cpu.memory_bandwidth;
}

double traffic_cycles(const KernelSpec &spec, const KnownCpu &cpu, double rows) {
    const OperandBytes bytes = operand_bytes(spec.problem);
    const Knobs &knobs = spec.knobs;
    const auto l1 = static_cast<double>(cpu.l1d_bytes);
    const bool is_streaming = knobs.stores == kStreaming;
    const double all = rows * (bytes.read + bytes.written) + bytes.shared;
    const double block = std::min<double>(rows, knobs.block);
    double cycles = 0;
    if (is_streaming) {
        cycles += bytes.written / cpu.memory_bandwidth;
    }
    if (all <= l1) {
        return cycles * rows;
    }
    const double level = bandwidth_of(cpu, all);
    // A line that is written is read first, and goes back.
    const double written = is_streaming ? 0 : bytes.written * (level == cpu.memory_bandwidth ? 2 : 1);
    cycles += (bytes.read + written) / level;
    const double at_work = block * (bytes.read + bytes.written) + bytes.shared;
    if (at_work > l1) {
        const double readings = knobs.sums == kTwoPass ? 2 : 1;
        const double kept = knobs.writing == kDescending ? std::min(bytes.read, l1 / 2) : 0;
        const double sharing = knobs.weights == kShared ? block : 1;
        cycles += (readings * bytes.read - kept + bytes.shared / sharing) / cpu.l2_bandwidth;
    }
    return cycles * rows;
}

}  // namespace

// The one hides behind the other, but not all of it: of 20 groups of 48 schedules that were measured (Zen 4, 10
// problems in f32, f16 and bf16, 1 and 16 rows) the mean rank correlation is 0.75 by arithmetic alone, 0.78 by the
// greater of both, 0.81 by this and by the sum.
double StaticTime::total() const {
    return std::max(compute, traffic) + std::min(compute, traffic) / 2;
}

StaticTime static_time(const KernelSpec &spec, const KernelCycles &cycles, const KnownCpu &cpu, int64_t rows) {
    const int64_t passes = (rows + spec.knobs.block - 1) / spec.knobs.block;
    return {cycles.first_pass + static_cast<double>(passes - 1) * cycles.next_pass,
            traffic_cycles(spec, cpu, static_cast<double>(rows))};
}

}  // namespace normforge
