#include "runtime/cuda_slices.h"

#include <algorithm>

#include "runtime/gradient_sums.h"

namespace normforge {

namespace {

// Slices of fewer rows would write partial sums of more bytes than the rows have; longer ones would sum less
// exactly.
constexpr int64_t kFewestRows = 4;
constexpr int64_t kMostRows = 64;

// Enough for the largest devices, but no more than what stays in their caches.
constexpr int64_t kFewestSlices = 1024;
constexpr int64_t kMostSlices = 8192;
constexpr int64_t kValuesOfAGradient = int64_t{1} << 22;

int64_t parts(int64_t rows, int64_t rows_of_part) {
    return (rows - 1) / rows_of_part + 1;
}

}  // namespace

int64_t cuda_slices(const NormProblem &problem, int64_t rows) {
    if (gradient_values(problem) == 0) {
        return rows;
    }
    const int64_t usual = std::clamp(kValuesOfAGradient / problem.hidden, kFewestSlices, kMostSlices);
    return std::max(std::min(usual, parts(rows, kFewestRows)), parts(rows, kMostRows));
}

int64_t cuda_workspace_bytes(const NormProblem &problem, int64_t rows, int64_t groups, int64_t) {
    if (problem.pass != NF_BACKWARD || rows == 0 || groups == 0) {
        return 0;
    }
    const int64_t values = gradient_values(problem);
    int64_t all = 0;
    if (values > 0 && (__builtin_mul_overflow(cuda_slices(problem, rows), groups, &all) ||
                       __builtin_mul_overflow(all, values, &all) || all > INT32_MAX)) {
        return INT64_MAX;
    }
    return all * static_cast<int64_t>(sizeof(float));
}

}  // namespace normforge
