#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "autotune/loaded_kernel.h"
#include "autotune/trial.h"
#include "runtime/norm_problem.h"

namespace normforge {

// What a kernel is timed on: rows of normally distributed values, at 64-byte boundaries and without gaps, one output
// buffer that every kernel writes. Rows that fit a cache stay there from call to call.
class TimingOperands {
public:
    TimingOperands(const NormProblem &problem, int64_t rows);

    const nf_arguments &arguments() const { return arguments_; }
    int64_t value_count() const { return arguments_.rows * arguments_.x_row_stride; }

private:
    struct Free {
        void operator()(float *values) const;
    };
    using Values = std::unique_ptr<float, Free>;
    static Values aligned_values(size_t count, double mean, double deviation, uint64_t seed);

    Values x_, y_, weight_, bias_;
    nf_arguments arguments_;
};

// Nanoseconds a call takes, over `calls` of them.
double time_calls(LoadedKernel::Entry entry, const nf_arguments &arguments, int64_t calls);

// How many calls fill about this much time; at least 1. Runs the kernel until it is warm.
int64_t calls_for(LoadedKernel::Entry entry, const nf_arguments &arguments, double nanoseconds);

}  // namespace normforge
