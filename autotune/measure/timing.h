#pragma once

#include <cstdint>
#include <memory>

#include "runtime/kernel_table.h"
#include "runtime/norm_problem.h"

namespace normforge {

// Throws UserError where rows of the problem would take more than half of this machine's memory.
void require_memory_for(const NormProblem &problem, int64_t rows);

// What a kernel is timed on: every operand of its problem, rows of normally distributed values without gaps, and
// outputs that every kernel writes. Rows that fit a cache stay there from call to call. All operands lie page
// after page in one block of fixed alignment: buffers at chance addresses of the heap made some processes 1.3x
// slower at 4096 values (Zen 4), where the first cache takes two of them for each other.
class TimingOperands {
public:
    // Throws as require_memory_for does.
    TimingOperands(const NormProblem &problem, int64_t rows);

    const nf_arguments &arguments() const { return arguments_; }

private:
    struct Free {
        void operator()(void *block) const;
    };
    std::unique_ptr<void, Free> block_;
    nf_arguments arguments_{};
};

// Nanoseconds that a call of nf_run takes, over `calls` of them. Throws std::logic_error where it refuses them.
double time_calls(const nf_kernel &kernel, const nf_arguments &arguments, int64_t calls);

// How many calls fill about this much time; at least 1. Runs the kernel until it is warm.
int64_t calls_for(const nf_kernel &kernel, const nf_arguments &arguments, double nanoseconds);

}  // namespace normforge
