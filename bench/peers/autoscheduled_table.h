#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/normforge.h"

namespace normforge {

// Called with the addresses of the arguments: halide_buffer_t of x, residual, weight and bias as far as the op has
// them, epsilon, then halide_buffer_t of y and the stored sum.
struct AutoscheduledKernel {
    nf_op op;
    int64_t hidden;
    bool has_residual;
    int64_t expected_rows;
    int (*run)(void **arguments);
};

extern const AutoscheduledKernel kAutoscheduledKernels[];
extern const size_t kAutoscheduledCount;

}  // namespace normforge
