#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include "tests/kernel_test.h"
#include "tests/reference_call.h"

namespace normforge {

// An input on which public norm kernels were reported to fail, and its right values to seven digits. Vectors, rows
// and expected values that are shorter than what they stand for go on from their start.
struct BugReport {
    const char *name;
    const char *source;  // owner/repository#issue
    ReferenceCall call;
    std::vector<double> expected;
    OperandId output = OperandId::y;
};

inline std::ostream &operator<<(std::ostream &stream, const BugReport &report) {
    return stream << report.name << ": " << report.source;
}

// All that a forward problem may read.
inline OperandValues read_by_forward(const ReferenceCall &call) {
    const int64_t hidden = parse_problem(call.problem).hidden;
    const auto repeated = [](const std::vector<double> &numbers, int64_t count) {
        std::vector<float> values;
        for (int64_t index = 0; index < count && !numbers.empty(); index++) {
            values.push_back(static_cast<float>(numbers[static_cast<size_t>(index) % numbers.size()]));
        }
        return values;
    };
    OperandValues values;
    of(values, OperandId::x) = repeated(call.x, call.rows * hidden);
    of(values, OperandId::residual) = repeated(call.residual, call.rows * hidden);
    of(values, OperandId::weight) = repeated(call.weight, hidden);
    of(values, OperandId::bias) = repeated(call.bias, hidden);
    of(values, OperandId::epsilon) = {call.epsilon};
    of(values, OperandId::scale) = {call.scale};
    return values;
}

class BugReports : public KernelTest<BugReport> {
public:
    static std::string name_of(const testing::TestParamInfo<ParamType> &test) {
        const auto &[machine, report] = test.param;
        return std::string(report.name) + "_" + machine.name;
    }

protected:
    void expect_right_values() {
        const BugReport &report = parameter();
        const NormProblem problem = parse_problem(report.call.problem);
        const nf_dtype type = operand_type(problem, operand(report.output));
        const OperandValues written = run(problem, read_by_forward(report.call));
        const std::vector<float> &values = of(written, report.output);
        ASSERT_FALSE(values.empty());
        for (size_t index = 0; index < values.size(); index++) {
            const double expected = report.expected[index % report.expected.size()];
            if (std::isnan(expected) || std::isinf(expected)) {
                const bool both_nan = std::isnan(values[index]) && std::isnan(expected);
                ASSERT_TRUE(both_nan || values[index] == expected)
                    << values[index] << " is not " << expected << ", at " << index;
            } else {
                // Half a unit of the output's last place; and the seven digits and a few roundings of f32.
                const double rounding = type == NF_F32 ? 0 : last_place(type, expected) / 2;
                ASSERT_NEAR(values[index], expected, rounding + 5e-7 * std::fabs(expected)) << "at " << index;
            }
        }
    }
};

}  // namespace normforge
