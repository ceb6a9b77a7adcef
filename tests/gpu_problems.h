#pragma once

#include <string>
#include <vector>

#include "bench/gpu/unusual_problems.h"
#include "runtime/norm_problem.h"
#include "schedules/gpu_space.h"

namespace normforge {

// Problems whose GPU schedules are tested: sizes with and without whole chunks, for a warp and for many.
inline std::vector<NormProblem> gpu_problems() {
    std::vector<NormProblem> problems;
    for (const int64_t hidden : {32, 128, 256, 768, 1000, 1024, 4096, 5120, 8192, 16384}) {
        for (const nf_dtype dtype : {NF_F32, NF_F16, NF_BF16}) {
            for (const nf_op op : {NF_LAYER_NORM, NF_RMS_NORM}) {
                NormProblem problem = default_problem(op, hidden, dtype);
                problems.push_back(problem);
                problem.residual = dtype;
                problem.sum = dtype;
                problems.push_back(problem);
            }
        }
    }
    return problems;
}

// Some of a problem's schedules: `count` of them, spread over all.
inline std::vector<GpuKnobs> some_schedules(const NormProblem &problem, size_t count) {
    const std::vector<GpuKnobs> all = enumerate_gpu(problem);
    std::vector<GpuKnobs> some;
    for (size_t index = 0; index < all.size() && index < count; index++) {
        some.push_back(all[index * all.size() / std::min(count, all.size())]);
    }
    return some;
}

inline std::vector<NormProblem> other_gpu_problems() {
    std::vector<NormProblem> problems;
    for (const char *text : kUnusualGpuProblems) {
        problems.push_back(parse_problem(text));
    }
    return problems;
}

inline std::vector<NormProblem> gpu_gradients() {
    std::vector<NormProblem> problems;
    for (const int64_t hidden : {32, 128, 768, 1000, 1024, 4096, 8192, 16384}) {
        for (const nf_dtype dtype : {NF_F32, NF_BF16}) {
            for (const nf_op op : {NF_LAYER_NORM, NF_RMS_NORM}) {
                NormProblem problem = default_problem(op, hidden, dtype);
                problem.pass = NF_BACKWARD;
                problem.saved_statistics = NF_YES;
                problems.push_back(problem);
            }
        }
    }
    return problems;
}

inline std::vector<NormProblem> other_gpu_gradients() {
    std::vector<NormProblem> problems;
    for (const char *text : kUnusualGpuGradients) {
        problems.push_back(parse_problem(text));
    }
    return problems;
}

}  // namespace normforge
