#include "autotune/timing.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <new>

#include "autotune/test_rows.h"

namespace normforge {

namespace {

constexpr size_t kAlignment = 64;
// Values made one by one; longer operands repeat them. Making them all would take longer than the timing.
constexpr size_t kDistinctValues = 1 << 16;

}  // namespace

void TimingOperands::Free::operator()(float *values) const { std::free(values); }

TimingOperands::Values TimingOperands::aligned_values(size_t count, double mean, double deviation, uint64_t seed) {
    const size_t bytes = (count * sizeof(float) + kAlignment - 1) / kAlignment * kAlignment;
    Values values(static_cast<float *>(std::aligned_alloc(kAlignment, std::max(bytes, kAlignment))));
    if (!values) {
        throw std::bad_alloc();
    }
    const std::vector<float> distinct = normal_values(std::min(count, kDistinctValues), mean, deviation, seed);
    for (size_t i = 0; i < count; i++) {
        values.get()[i] = distinct[i % distinct.size()];
    }
    return values;
}

TimingOperands::TimingOperands(const NormProblem &problem, int64_t rows)
    : x_(aligned_values(static_cast<size_t>(rows * problem.hidden), 0, 1, 1)),
      y_(aligned_values(static_cast<size_t>(rows * problem.hidden), 0, 1, 2)),
      weight_(aligned_values(problem.weight == NF_NONE ? 0 : static_cast<size_t>(problem.hidden), 1, 0.5, 3)),
      bias_(aligned_values(problem.bias == NF_NONE ? 0 : static_cast<size_t>(problem.hidden), 0, 1, 4)),
      arguments_{rows, x_.get(), problem.hidden, y_.get(), problem.hidden, weight_.get(), bias_.get(), 1e-5f} {}

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
        const double per_call = time_calls(entry, arguments, calls);
        if (per_call * static_cast<double>(calls) >= nanoseconds / 2) {
            return std::max<int64_t>(1, std::llround(nanoseconds / per_call));
        }
    }
}

}  // namespace normforge
