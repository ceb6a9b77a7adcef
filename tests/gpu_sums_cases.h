#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "runtime/float_types.h"
#include "tests/sums_kernel.h"

namespace normforge {

// Partial sums that cancel: a sum in f32 alone has few of its digits.
inline std::vector<float> cancelling_sums(const NormProblem &problem, int64_t slices) {
    const int64_t values = gradient_values(problem);
    std::vector<float> sums(static_cast<size_t>(slices * values));
    for (int64_t slice = 0; slice < slices; slice++) {
        for (int64_t value = 0; value < values; value++) {
            const double large = std::sin(static_cast<double>(slice / 2 * 31 + value)) * 1e6;
            const double small = std::cos(static_cast<double>(slice * 17 + value));
            sums[static_cast<size_t>(slice * values + value)] =
                static_cast<float>(slice % 2 == 0 ? large + small : small - large);
        }
    }
    return sums;
}

// Each sum is the exact one, rounded once to its type, or a neighbour of that.
inline void expect_exact_sums(const NormProblem &problem, int64_t slices, const Halide::Target &target) {
    SumsKernel kernel(problem, target);
    std::vector<float> partial = cancelling_sums(problem, slices);
    std::vector<float> dweight(static_cast<size_t>(problem.hidden)), dbias(dweight.size());
    kernel.run(partial.data(), slices, dweight.data(), dbias.data());
    const int64_t values = gradient_values(problem);
    for (int64_t value = 0; value < values; value++) {
        double exact = 0;
        for (int64_t slice = 0; slice < slices; slice++) {
            exact += partial[static_cast<size_t>(slice * values + value)];
        }
        const bool is_weight = problem.weight != NF_NONE && value < problem.hidden;
        const nf_dtype type = is_weight ? problem.weight : problem.bias;
        const void *sums = is_weight ? dweight.data() : dbias.data();
        const double sum = load_value(sums, type, value % problem.hidden);
        const double place = std::ldexp(std::fabs(exact), type == NF_BF16 ? -8 : -23) + 1e-9;
        ASSERT_NEAR(sum, exact, place) << "value " << value << " of " << slices << " slices";
    }
}

}  // namespace normforge
