#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "autotune/measure/call_operands.h"
#include "autotune/measure/single_kernel.h"
#include "autotune/measure/value_ranges.h"

namespace normforge {

inline NormProblem problem_with(const std::string &fields, int64_t hidden) {
    return parse_problem(fields + ",hidden=" + std::to_string(hidden));
}

// A call on given rows, and what a right kernel may write in it.
class RangedCall {
public:
    RangedCall(const NormProblem &problem, const std::vector<TestRow> &rows, float epsilon = 1e-5f)
        : RangedCall(problem, rows, read_values(problem, rows, epsilon, 11)) {}

    RangedCall(const NormProblem &problem, const std::vector<TestRow> &rows, const OperandValues &values)
        : problem_(problem), operands_(problem, static_cast<int64_t>(rows.size()), 1, values),
          ranges_(value_ranges(problem, operands_.arguments())) {}

    const std::vector<ValueRange> &ranges(OperandId id) const { return ranges_[static_cast<size_t>(id)]; }

    OperandValues run(SingleKernel::Entry entry) const {
        const SingleKernel kernel(problem_, entry);
        const nf_status status = nf_run(&kernel.kernel(), &operands_.arguments());
        return status == NF_SUCCESS ? written_values(problem_, operands_.arguments()) : OperandValues();
    }

private:
    const NormProblem problem_;
    const CallOperands operands_;
    const OperandRanges ranges_;
};

// Test rows of two seeds: all of them, or those that are right without an epsilon too.
inline std::vector<TestRow> rows_of(const NormProblem &of, bool scale_free) {
    std::vector<TestRow> rows;
    for (uint64_t seed : {1, 1001}) {
        for (TestRow &row : test_rows(of, seed)) {
            const bool constant = std::ranges::all_of(row.x, [&](float x) { return x == row.x[0]; });
            // Without an epsilon the gradient of values below f32's normal ones has no f32 to be multiplied by.
            const bool too_small = of.pass == NF_BACKWARD && row.kind == "subnormal values";
            if (!scale_free || (row.scale_free && !constant && !too_small)) {
                rows.push_back(std::move(row));
            }
        }
    }
    return rows;
}

// A row of x alone, of a forward problem without a residual.
inline std::vector<TestRow> plain_row(const std::vector<float> &x) {
    TestRow row;
    row.x = x;
    return {row};
}

}  // namespace normforge
