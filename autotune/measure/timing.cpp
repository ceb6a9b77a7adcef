#include "autotune/measure/timing.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <new>

#include "autotune/measure/test_rows.h"
#include "runtime/user_error.h"

namespace normforge {

namespace {

constexpr size_t kPage = 4096;
constexpr size_t kBlockAlignment = 1 << 21;
// Values made one by one; longer operands repeat them. Making them all would take longer than the timing.
constexpr size_t kDistinctValues = 1 << 16;

size_t whole_pages(size_t values) {
    return (values * sizeof(float) + kPage - 1) / kPage * kPage;
}

void fill(float *values, size_t count, double mean, double deviation, uint64_t seed) {
    const std::vector<float> distinct = normal_values(std::min(count, kDistinctValues), mean, deviation, seed);
    for (size_t i = 0; i < count; i++) {
        values[i] = distinct[i % distinct.size()];
    }
}

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

}  // namespace

void TimingOperands::Free::operator()(void *block) const {
    std::free(block);
}

TimingOperands::TimingOperands(const NormProblem &problem, int64_t rows) {
    require_memory_for(problem, rows);
    const auto hidden = static_cast<size_t>(problem.hidden);
    const size_t values = static_cast<size_t>(rows) * hidden;
    const size_t bytes = 2 * whole_pages(values) + 2 * whole_pages(hidden);
    block_.reset(
        std::aligned_alloc(kBlockAlignment, (bytes + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment));
    if (!block_) {
        throw std::bad_alloc();
    }
    char *next = static_cast<char *>(block_.get());
    auto operand = [&](size_t count, double mean, double deviation, uint64_t seed) {
        auto *start = reinterpret_cast<float *>(next);
        fill(start, count, mean, deviation, seed);
        next += whole_pages(count);
        return start;
    };
    const float *x = operand(values, 0, 1, 1);
    float *y = operand(values, 0, 1, 2);
    const float *weight = operand(hidden, 1, 0.5, 3);
    const float *bias = operand(hidden, 0, 1, 4);
    arguments_ = {rows, x, problem.hidden, y, problem.hidden, weight, bias, 1e-5f};
}

double time_calls(LoadedKernel::Entry entry, const nf_arguments &arguments, int64_t calls) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    for (int64_t call = 0; call < calls; call++) {
        entry(&arguments);
    }
    return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / static_cast<double>(calls);
}

int64_t calls_for(LoadedKernel::Entry entry, const nf_arguments &arguments, double nanoseconds) {
    for (int64_t calls = 1;; calls *= 2) {
        // The faster of two: an interruption of a first short one would be taken for the kernel's own time.
        const double per_call = std::min(time_calls(entry, arguments, calls), time_calls(entry, arguments, calls));
        if (per_call * static_cast<double>(calls) >= nanoseconds / 2) {
            return std::max<int64_t>(1, std::llround(nanoseconds / per_call));
        }
    }
}

}  // namespace normforge
