// What holds between a kernel's calls, or between kernels, whatever the right values are. Where nothing else is
// said, it holds for each bit.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tests/kernel_test.h"

namespace normforge {
namespace {

constexpr int64_t kRows = 5;
// Vectors and a tail, in lanes with pivots.
constexpr int64_t kHidden = 301;

class Properties : public KernelTest<std::string> {
public:
    static std::string name_of(const testing::TestParamInfo<ParamType> &test) {
        return identifier(std::get<1>(test.param)) + "_" + std::get<0>(test.param).name;
    }

protected:
    NormProblem problem(int64_t hidden = kHidden) const {
        return parse_problem(parameter() + ",hidden=" + std::to_string(hidden));
    }

    std::vector<float> y(const NormProblem &of_problem, const OperandValues &values, bool in_place = false) {
        return of(run(of_problem, values, in_place), OperandId::y);
    }
};

std::vector<float> times(std::vector<float> values, float factor) {
    for (float &value : values) {
        value *= factor;
    }
    return values;
}

// A power of two changes no digit, and without an epsilon nothing has a size of its own.
TEST_P(Properties, ScaleOfARowDoesNotMatter) {
    OperandValues values = ordinary_values(problem(), kRows);
    of(values, OperandId::epsilon) = {0};
    const std::vector<float> expected = y(problem(), values);
    for (float factor : {2.0f, 1024.0f}) {
        OperandValues scaled = values;
        of(scaled, OperandId::x) = times(of(values, OperandId::x), factor);
        EXPECT_EQ(y(problem(), scaled), expected) << factor;
    }
}

class LayerNormProperties : public Properties {};

// Of whole numbers, and as many of them as a power of two, sums and mean are exact.
TEST_P(LayerNormProperties, MeanOfARowDoesNotMatter) {
    const NormProblem short_rows = problem(256);
    OperandValues values = ordinary_values(short_rows, kRows);
    for (size_t index = 0; index < of(values, OperandId::x).size(); index++) {
        of(values, OperandId::x)[index] = static_cast<float>(index * index * 7 % 101) - 50;
    }
    const std::vector<float> expected = y(short_rows, values);
    for (float &value : of(values, OperandId::x)) {
        value += 100;
    }
    EXPECT_EQ(y(short_rows, values), expected);
}

TEST_P(Properties, NegatedRowsGiveNegatedValues) {
    NormProblem symmetric = problem();
    symmetric.bias = NF_NONE;
    OperandValues values = ordinary_values(symmetric, kRows);
    const std::vector<float> expected = times(y(symmetric, values), -1);
    of(values, OperandId::x) = times(of(values, OperandId::x), -1);
    EXPECT_EQ(y(symmetric, values), expected);
}

TEST_P(Properties, RowsDependOnNothingButThemselves) {
    const OperandValues values = ordinary_values(problem(), kRows);
    const std::vector<float> expected = y(problem(), values);
    EXPECT_EQ(y(problem(), values, true), expected) << "in place";

    OperandValues rotated = values;
    const auto rotate = [](std::vector<float> &rows) {
        std::rotate(rows.begin(), rows.begin() + 2 * kHidden, rows.end());
    };
    rotate(of(rotated, OperandId::x));
    std::vector<float> rotated_y = expected;
    rotate(rotated_y);
    EXPECT_EQ(y(problem(), rotated), rotated_y) << "in another order";

    OperandValues among_nans = values;
    const auto in_row = [](size_t index, int64_t row) { return static_cast<int64_t>(index) / kHidden == row; };
    for (size_t index = 0; index < of(among_nans, OperandId::x).size(); index++) {
        if (!in_row(index, 2)) {
            of(among_nans, OperandId::x)[index] = std::numeric_limits<float>::quiet_NaN();
        }
    }
    const std::vector<float> among_nans_y = y(problem(), among_nans);
    for (size_t index = 0; index < expected.size(); index++) {
        ASSERT_EQ(std::isnan(among_nans_y[index]), !in_row(index, 2)) << index;
        ASSERT_TRUE(std::isnan(among_nans_y[index]) || among_nans_y[index] == expected[index]) << index;
    }
}

// A product with 1 and a sum with 0 round nothing.
TEST_P(Properties, OperandsWithoutEffectAreAsGoodAsNone) {
    NormProblem bare = problem();
    bare.weight = bare.bias = NF_NONE;
    OperandValues values = ordinary_values(bare, kRows);
    const std::vector<float> expected = y(bare, values);
    of(values, OperandId::weight).assign(kHidden, 1.0f);
    of(values, OperandId::bias).assign(kHidden, 0.0f);
    of(values, OperandId::residual).assign(kRows * kHidden, 0.0f);
    for (auto NormProblem::*field : {&NormProblem::weight, &NormProblem::bias, &NormProblem::residual}) {
        NormProblem with_operand = bare;
        with_operand.*field = bare.dtype;
        EXPECT_EQ(y(with_operand, values), expected) << to_text(with_operand);
    }
}

// Both are numbers of all types here, so adding 1 rounds nothing.
TEST_P(Properties, WeightMayBeStoredLessOne) {
    OperandValues values = ordinary_values(problem(), kRows);
    for (int64_t i = 0; i < kHidden; i++) {
        of(values, OperandId::weight)[i] = static_cast<float>(i % 128) / 64;
    }
    const std::vector<float> expected = y(problem(), values);
    NormProblem with_offset = problem();
    with_offset.weight_offset = NF_OFFSET_ONE;
    for (float &weight : of(values, OperandId::weight)) {
        weight -= 1;
    }
    EXPECT_EQ(y(with_offset, values), expected);
}

TEST_P(Properties, SumIsThatOfF32AndNormalisedAsItIs) {
    NormProblem with_sum = problem();
    with_sum.residual = problem().dtype;
    with_sum.sum = NF_F32;
    with_sum.output = NF_F32;
    const OperandValues values = ordinary_values(with_sum, kRows);
    OperandValues sums = values;
    for (size_t index = 0; index < of(sums, OperandId::x).size(); index++) {
        of(sums, OperandId::x)[index] += of(values, OperandId::residual)[index];
    }
    const OperandValues written = run(with_sum, values);
    EXPECT_EQ(of(written, OperandId::sum), of(sums, OperandId::x));

    NormProblem of_sum = with_sum;
    of_sum.residual = of_sum.sum = NF_NONE;
    of_sum.dtype = NF_F32;
    EXPECT_EQ(of(written, OperandId::y), y(of_sum, sums));
}

// Values are made f32 when they are read, and of the output's type when they are written.
TEST_P(Properties, TypesMatterAtBothEndsAlone) {
    const OperandValues values = ordinary_values(problem(), kRows);
    NormProblem all_f32 = problem();
    all_f32.dtype = all_f32.output = NF_F32;
    all_f32.weight = NF_F32;
    all_f32.bias = problem().bias == NF_NONE ? NF_NONE : NF_F32;
    const std::vector<float> exact = y(all_f32, values);
    EXPECT_EQ(y(problem(), values), rounded_to(problem().output, exact));
    for (nf_dtype type : {NF_I8, NF_F8E4M3}) {
        NormProblem quantised = problem();
        quantised.output = type;
        quantised.scale = NF_SCALE_PER_ROW;
        const OperandValues written = run(quantised, values);
        std::vector<float> quotients = exact;
        for (size_t index = 0; index < quotients.size(); index++) {
            quotients[index] /= of(written, OperandId::scales)[index / kHidden];
        }
        EXPECT_EQ(of(written, OperandId::y), rounded_to(type, quotients)) << field_text(type);
    }
}

// On other machines than this one, a type that the CPU has and one that it may have to convert.
INSTANTIATE_TEST_SUITE_P(Host, Properties,
                         testing::Combine(testing::Values(kMachines[0]),
                                          testing::Values("op=layer_norm,dtype=f32", "op=layer_norm,dtype=f16",
                                                          "op=layer_norm,dtype=bf16", "op=rms_norm,dtype=f32",
                                                          "op=rms_norm,dtype=f16", "op=rms_norm,dtype=bf16")),
                         Properties::name_of);
INSTANTIATE_TEST_SUITE_P(Others, Properties,
                         testing::Combine(testing::Values(kMachines[1], kMachines[2]),
                                          testing::Values("op=layer_norm,dtype=f32", "op=rms_norm,dtype=f16")),
                         Properties::name_of);
INSTANTIATE_TEST_SUITE_P(All, LayerNormProperties,
                         testing::Combine(testing::ValuesIn(kMachines),
                                          testing::Values("op=layer_norm,dtype=f32", "op=layer_norm,dtype=bf16")),
                         Properties::name_of);

}  // namespace
}  // namespace normforge
