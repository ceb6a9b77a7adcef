#include "autotune/measure/value_ranges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "runtime/float_types.h"
#include "tests/ranged_call.h"
#include "tests/simulated_norm.h"

namespace normforge {
namespace {

// Every step that a problem may have, in several types.
const char *const kProblems[] = {
    "op=layer_norm,dtype=f32",
    "op=layer_norm,dtype=f32,weight=none,bias=none",
    "op=layer_norm,dtype=f32,weight=none",
    "op=layer_norm,dtype=f32,epsilon_place=on_deviation,saved_statistics=yes",
    "op=layer_norm,dtype=bf16,weight=f32,normalised=bf16",
    "op=layer_norm,dtype=f16,output=i8,scale=per_row,residual=f16,sum=f16",
    "op=layer_norm,dtype=f32,residual=f32,sum=bf16,statistics=bf16",
    "op=rms_norm,dtype=f32",
    "op=rms_norm,dtype=f32,weight=none,bias=bf16,saved_statistics=yes",
    "op=rms_norm,dtype=bf16,weight_offset=1,residual=bf16,sum=f32",
    "op=rms_norm,dtype=f16,normalised=f16,epsilon_place=on_deviation",
    "op=rms_norm,dtype=bf16,output=f8e4m3,scale=per_row,unquantised=bf16",
    "op=rms_norm,dtype=f32,output=f8e4m3,scale=static,bias=f32,unquantised=f16",
    "op=rms_norm,dtype=f32,output=i8,scale=static,residual=bf16,statistics=f16",
    "op=layer_norm,pass=backward,dtype=f32,saved_statistics=yes",
    "op=layer_norm,pass=backward,dtype=bf16,weight=f32,residual=f32,sum=bf16,saved_statistics=yes",
    "op=layer_norm,pass=backward,dtype=f32,epsilon_place=on_deviation,saved_statistics=yes",
    "op=rms_norm,pass=backward,dtype=f32,weight=none,saved_statistics=yes",
    "op=rms_norm,pass=backward,dtype=f16,weight_offset=1,bias=f16,residual=f16,saved_statistics=yes",
    "op=rms_norm,pass=backward,dtype=bf16,normalised=bf16,epsilon_place=on_deviation,saved_statistics=yes"};

std::vector<Arithmetic> arithmetics() {
    std::vector<Arithmetic> all;
    for (size_t lanes : {1, 4, 16, 128}) {
        for (bool fused : {false, true}) {
            all.push_back({"two passes", kTwoPass, lanes, fused});
            all.push_back({"row pivot", kRowPivot, lanes, fused});
        }
    }
    return all;
}

class EveryArithmetic : public testing::TestWithParam<std::tuple<const char *, int64_t>> {
protected:
    void SetUp() override { problem = problem_with(std::get<0>(GetParam()), std::get<1>(GetParam())); }

    static ValueRange range_of(const RangedCall &call, const OperandValues &values, OperandId id, size_t i) {
        const ValueRange &range = call.ranges(id)[i];
        if (id != OperandId::y || problem.scale == NF_SCALE_NONE) {
            return range;
        }
        const std::vector<float> &scales = values[static_cast<size_t>(OperandId::scales)];
        const float scale = problem.scale == NF_SCALE_STATIC
                                ? static_cast<float>(2 / largest_value(problem.output))
                                : scales[i / static_cast<size_t>(problem.hidden)];
        return quantised(range, problem.output, scale);
    }

    static void expect_all_in_range(const std::vector<TestRow> &rows, float epsilon) {
        const RangedCall call(problem, rows, epsilon);
        for (const Arithmetic &one : arithmetics()) {
            arithmetic = one;
            const OperandValues values = call.run(kernel<SimulatedNorm>);
            for (const Operand &operand : kOperands) {
                const std::vector<float> &own = values[static_cast<size_t>(operand.id)];
                ASSERT_EQ(own.size(), call.ranges(operand.id).size()) << operand.name;
                for (size_t i = 0; i < own.size(); i++) {
                    const ValueRange range = range_of(call, values, operand.id, i);
                    ASSERT_TRUE(range.contains(own[i]))
                        << operand.name << " " << i << " is " << own[i] << ", allowed " << range.low << " to "
                        << range.high << ", " << testing::PrintToString(one) << ", row "
                        << rows[i / static_cast<size_t>(problem.hidden) % rows.size()].kind;
                }
            }
        }
    }
};

TEST_P(EveryArithmetic, StaysInTheRanges) {
    expect_all_in_range(rows_of(problem, false), 1e-5f);
}

TEST_P(EveryArithmetic, StaysInTheRangesWithoutEpsilon) {
    const std::vector<TestRow> rows = rows_of(problem, true);
    if (!rows.empty()) {
        expect_all_in_range(rows, 0);
    }
}

INSTANTIATE_TEST_SUITE_P(ProblemAndHidden, EveryArithmetic,
                         testing::Combine(testing::ValuesIn(kProblems),
                                          testing::Values(1, 2, 3, 7, 48, 127, 384, 2047)),
                         [](const auto &test) {
                             return symbol_name(problem_with(std::get<0>(test.param), std::get<1>(test.param)));
                         });

// Ranges in which everything lies would pass the tests above.
class Tightness : public testing::TestWithParam<std::tuple<const char *, int64_t>> {};

TEST_P(Tightness, IsNotTwoHundredTimesWhatHappens) {
    problem = problem_with(std::get<0>(GetParam()), std::get<1>(GetParam()));
    std::vector<TestRow> rows;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        rows.push_back(test_rows(problem, 1000 * seed).front());
    }
    const RangedCall call(problem, rows);
    std::array<double, kOperandCount> worst{};
    for (const Arithmetic &one : arithmetics()) {
        arithmetic = one;
        const OperandValues values = call.run(kernel<SimulatedNorm>);
        for (size_t id = 0; id < kOperandCount; id++) {
            for (size_t i = 0; i < values[id].size(); i++) {
                worst[id] = std::max(worst[id], call.ranges(OperandId(id))[i].error_ratio(values[id][i]));
            }
        }
    }
    for (const Operand &operand : kOperands) {
        if (operand_type(problem, operand) != NF_NONE && is_written(problem, operand)) {
            EXPECT_GE(worst[static_cast<size_t>(operand.id)], 0.005) << operand.name;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(
    ProblemAndHidden, Tightness,
    testing::Combine(
        testing::Values("op=layer_norm,dtype=f32,weight=none,bias=none,saved_statistics=yes",
                        "op=rms_norm,dtype=f32,weight=none,bias=none,saved_statistics=yes",
                        "op=layer_norm,dtype=f32,weight=none,bias=none,epsilon_place=on_deviation",
                        "op=layer_norm,pass=backward,dtype=f32,bias=none,saved_statistics=yes",
                        "op=rms_norm,pass=backward,dtype=f32,residual=f32,sum=f32,saved_statistics=yes",
                        "op=layer_norm,pass=backward,dtype=f32,bias=none,epsilon_place=on_deviation,"
                        "saved_statistics=yes"),
        testing::Values(16, 100, 1024, 4095)),
    [](const auto &test) { return symbol_name(problem_with(std::get<0>(test.param), std::get<1>(test.param))); });

class SixteenBits : public testing::TestWithParam<std::tuple<const char *, nf_dtype>> {};

// Neighbours where f32's error leaves open to which side a value rounds, else the rounded value alone.
TEST_P(SixteenBits, AreRoundedRightlyOrToTheNeighbour) {
    NormProblem of = problem_with(std::get<0>(GetParam()), 4095);
    of.dtype = of.output = std::get<1>(GetParam());
    const RangedCall call(of, {test_rows(of, 5).front(), test_rows(of, 1005).front()});
    const OperandId id = of.pass == NF_BACKWARD ? OperandId::dx : OperandId::y;
    const FloatFormat format = float_format(of.output);
    size_t open = 0;
    for (const ValueRange &range : call.ranges(id)) {
        ASSERT_LE(range.low, range.expected);
        ASSERT_LE(range.expected, range.high);
        // Around zero they may be of unequal signs, and only the magnitude is small.
        if (std::signbit(range.low) == std::signbit(range.high) && std::fabs(range.expected) > 1e-2) {
            const auto codes = std::minmax({encode_float(format, range.low), encode_float(format, range.high)});
            ASSERT_LE(codes.second - codes.first, 1u) << range.expected;
        }
        open += range.low != range.high;
    }
    EXPECT_LE(static_cast<double>(open), 0.06 * static_cast<double>(call.ranges(id).size()));
}

INSTANTIATE_TEST_SUITE_P(ProblemAndType, SixteenBits,
                         testing::Combine(testing::Values("op=layer_norm,dtype=bf16,weight=f32,bias=none",
                                                          "op=rms_norm,dtype=bf16,weight=f32",
                                                          "op=layer_norm,pass=backward,dtype=bf16,bias=none,"
                                                          "weight=none,saved_statistics=yes"),
                                          testing::Values(NF_F16, NF_BF16)),
                         [](const auto &test) {
                             NormProblem of = problem_with(std::get<0>(test.param), 4095);
                             of.dtype = of.output = std::get<1>(test.param);
                             return symbol_name(of);
                         });

}  // namespace
}  // namespace normforge
