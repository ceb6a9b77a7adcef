#include "autotune/measure/timing.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <vector>

#include "autotune/measure/operand_layout.h"
#include "autotune/measure/test_rows.h"
#include "runtime/float_types.h"
#include "runtime/gradient_sums.h"
#include "runtime/user_error.h"

namespace normforge {

namespace {

constexpr size_t kPage = 4096;
constexpr size_t kBlockAlignment = 1 << 21;
// Values made one by one; longer operands repeat them. Making them all would take longer than the timing.
constexpr int64_t kDistinctValues = 1 << 16;

size_t whole_pages(size_t bytes) {
    return (bytes + kPage - 1) / kPage * kPage;
}

size_t operand_bytes(const NormProblem &problem, const Operand &operand, int64_t rows) {
    const bool number = operand.shape == OperandShape::number;
    return number ? 0
                  : static_cast<size_t>(value_count(problem, operand, rows)) *
                        element_size(operand_type(problem, operand));
}

void fill(char *data, nf_dtype type, int64_t count, double mean, double deviation, uint64_t seed) {
    const int64_t distinct = std::min(count, kDistinctValues);
    const std::vector<float> values = normal_values(static_cast<size_t>(distinct), mean, deviation, seed);
    for (int64_t i = 0; i < distinct; i++) {
        store_value(data, type, i, values[static_cast<size_t>(i)]);
    }
    const auto value_bytes = static_cast<int64_t>(element_size(type));
    for (int64_t i = distinct; i < count; i += distinct) {
        std::memcpy(data + i * value_bytes, data,
                    static_cast<size_t>(std::min(distinct, count - i) * value_bytes));
    }
}

// The statistics that a forward pass would have left of the rows that backward reads, but for its roundings.
void save_statistics(const NormProblem &problem, const nf_arguments &arguments) {
    const bool sum = problem.sum != NF_NONE;
    const void *values = sum ? arguments.sum.data : arguments.x.data;
    const nf_dtype type = sum ? problem.sum : problem.dtype;
    const bool residual = !sum && problem.residual != NF_NONE;
    const auto count = static_cast<double>(problem.hidden);
    for (int64_t row = 0; row < arguments.rows; row++) {
        double total = 0;
        double squares = 0;
        for (int64_t i = row * problem.hidden; i < (row + 1) * problem.hidden; i++) {
            const double h = load_value(values, type, i) +
                             (residual ? load_value(arguments.residual.data, problem.residual, i) : 0);
            total += h;
            squares += h * h;
        }
        const double mean = problem.op == NF_LAYER_NORM ? total / count : 0;
        if (problem.op == NF_LAYER_NORM) {
            arguments.mean[row] = static_cast<float>(mean);
        }
        const double variance = std::max(0.0, squares / count - mean * mean);
        arguments.rstd[row] = static_cast<float>(1 / std::sqrt(variance + arguments.epsilon));
    }
}

}  // namespace

void require_memory_for(const NormProblem &problem, int64_t rows) {
    const double needed = static_cast<double>(row_bytes(problem)) * static_cast<double>(rows);
    const double half =
        static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 2;
    if (needed > half) {
        throw UserError(
            fmt::format("{} rows of {} values take {:.1f} GB; at most half of this machine's memory, {:.1f} GB, "
                        "may be used: give fewer rows",
                        rows, problem.hidden, needed / 1e9, half / 1e9));
    }
}

void TimingOperands::Free::operator()(void *block) const {
    std::free(block);
}

TimingOperands::TimingOperands(const NormProblem &problem, int64_t rows) {
    require_memory_for(problem, rows);
    size_t bytes = whole_pages(static_cast<size_t>(gradient_workspace_bytes(problem, rows, 1)));
    for (const Operand &operand : kOperands) {
        bytes += whole_pages(operand_bytes(problem, operand, rows));
    }
    block_.reset(
        std::aligned_alloc(kBlockAlignment, (bytes + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment));
    if (!block_) {
        throw std::bad_alloc();
    }
    arguments_.rows = rows;
    arguments_.groups = 1;
    arguments_.epsilon = 1e-5f;
    arguments_.scale = 0.125f;
    char *next = static_cast<char *>(block_.get());
    for (const Operand &operand : kOperands) {
        const nf_dtype type = operand_type(problem, operand);
        const size_t operand_size = operand_bytes(problem, operand, rows);
        if (operand_size == 0) {
            continue;
        }
        const bool weight = operand.id == OperandId::weight;
        const double mean = weight && problem.weight_offset == NF_OFFSET_ZERO ? 1 : 0;
        fill(next, type, value_count(problem, operand, rows), mean, weight ? 0.5 : 1,
             static_cast<uint64_t>(operand.id) + 1);
        if (operand.shape == OperandShape::rows) {
            store_field(arguments_, operand, RowsField{next, problem.hidden, rows * problem.hidden});
        } else {
            store_field(arguments_, operand, next);
        }
        next += whole_pages(operand_size);
    }
    arguments_.workspace = next;
    if (problem.pass == NF_BACKWARD) {
        save_statistics(problem, arguments_);
    }
}

double time_calls(const nf_kernel &kernel, const nf_arguments &arguments, int64_t calls) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    for (int64_t call = 0; call < calls; call++) {
        if (const nf_status status = nf_run(&kernel, &arguments)) {
            throw std::logic_error(std::string("timing operands refused: ") + nf_status_message(status));
        }
    }
    return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / static_cast<double>(calls);
}

int64_t calls_for(const nf_kernel &kernel, const nf_arguments &arguments, double nanoseconds) {
    for (int64_t calls = 1;; calls *= 2) {
        // The faster of two: an interruption of a first short one would be taken for the kernel's own time.
        const double per_call =
            std::min(time_calls(kernel, arguments, calls), time_calls(kernel, arguments, calls));
        if (per_call * static_cast<double>(calls) >= nanoseconds / 2) {
            return std::max<int64_t>(1, std::llround(nanoseconds / per_call));
        }
    }
}

}  // namespace normforge
