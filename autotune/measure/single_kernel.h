#pragma once

#include "runtime/kernel_table.h"

namespace normforge {

// A kernel of one schedule for any number of rows, as nf_run takes it. It points into itself.
class SingleKernel {
public:
    using Entry = void (*)(const nf_arguments *);

    SingleKernel(const NormProblem &problem, Entry entry)
        : variant_{entry, 0, "", "", ""}, kernel_{problem, 0, "", 1, &variant_} {}
    SingleKernel(const SingleKernel &) = delete;
    SingleKernel &operator=(const SingleKernel &) = delete;

    const nf_kernel &kernel() const { return kernel_; }

private:
    nf_variant variant_;
    nf_kernel kernel_;
};

}  // namespace normforge
