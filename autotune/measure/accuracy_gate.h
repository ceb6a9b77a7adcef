#pragma once

#include <functional>
#include <string>
#include <vector>

#include "autotune/measure/operand_values.h"
#include "autotune/measure/value_ranges.h"
#include "runtime/kernel_table.h"

namespace normforge {

// What a kernel must do before it is timed: every value of every test row in its range, with and without an
// epsilon; a row's bits the same alone or among others, in any order and in groups, out of place or in place, at
// any alignment; sums over rows in their range and the same in every call; nothing written or read beside the
// operands.
class AccuracyGate {
public:
    explicit AccuracyGate(const NormProblem &problem, MergedIn merged = MergedIn::f64);

    struct Result {
        double error_ratio = 0;     // the largest of ValueRange's
        std::string output_digest;  // equal for kernels that give equal bits; a NaN is a NaN
        std::string failure;        // empty if the kernel passed
    };

    // Calls the kernel by nf_run. One that reads or writes out of bounds may crash this process: use a
    // ChildProcess.
    Result check(const nf_kernel &kernel) const;

    // The same of anything that runs a call as nf_run does.
    using Run = std::function<nf_status(const nf_arguments &arguments)>;
    Result check(const Run &run) const;

    // Rows of one call.
    struct Batch {
        std::vector<std::string> kinds;
        OperandValues values;
        OperandRanges ranges;
    };

private:
    void add_batch(const std::vector<TestRow> &rows, float epsilon);

    NormProblem problem_;
    MergedIn merged_;
    std::vector<Batch> batches_;
};

}  // namespace normforge
