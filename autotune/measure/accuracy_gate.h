#pragma once

#include <string>
#include <vector>

#include "autotune/measure/test_rows.h"
#include "runtime/norm_problem.h"

namespace normforge {

// What a kernel must do before it is timed: every test row within its error bound, whether rows come together or
// one by one, out of place or in place, at any alignment; nothing written or read beside the rows.
class AccuracyGate {
public:
    explicit AccuracyGate(const NormProblem &problem);

    struct Result {
        double error_ratio = 0;     // the largest error over its bound
        std::string output_digest;  // equal for kernels that give equal bits; a NaN is a NaN
        std::string failure;        // empty if the kernel passed
    };

    // Calls the kernel. One that reads or writes out of bounds may crash this process: use a ChildProcess.
    Result check(void (*entry)(const nf_arguments *)) const;

private:
    NormProblem problem_;
    std::vector<TestRow> rows_;
    std::vector<float> weight_;
    std::vector<float> bias_;
    std::vector<std::vector<double>> expected_;
    std::vector<std::vector<double>> bounds_;
};

}  // namespace normforge
