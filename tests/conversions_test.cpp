// Kernels' conversions between f32 and narrower types, with the CPU's instructions for them and without: wherever
// a norm lets values through unchanged. halide/Halide#2371, #4019, #5683, iree-org/iree#20163,
// llvm/llvm-project#112870, JuliaLang/julia#62507: conversions were missing, rounded twice or lost all digits.

#include <gtest/gtest.h>

#include <bit>
#include <cfloat>
#include <limits>

#include "tests/kernel_test.h"

namespace normforge {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Every value of the type from 0 on, and the middle between it and the next one, which may be beyond the largest.
std::vector<double> values_and_middles(nf_dtype type) {
    const uint32_t largest = type == NF_I8 ? 127 : float_format(type).largest_code;
    std::vector<double> numbers;
    for (uint32_t code = 0; code <= largest; code++) {
        const double value = type == NF_I8 ? code : decode_float(float_format(type), code);
        numbers.insert(numbers.end(), {value, value + last_place(type, value) / 2});
    }
    return numbers;
}

// These and f32's numbers on both sides of each, and the ends of f32.
std::vector<float> deciding_numbers(nf_dtype type) {
    std::vector<float> numbers = {FLT_TRUE_MIN, FLT_MIN, FLT_MAX, kInfinity, kNan};
    for (const double number : values_and_middles(type)) {
        const auto exact = static_cast<float>(number);
        numbers.insert(numbers.end(),
                       {std::nextafter(exact, -kInfinity), exact, std::nextafter(exact, kInfinity)});
    }
    const size_t half = numbers.size();
    for (size_t index = 0; index < half; index++) {
        numbers.push_back(-numbers[index]);
    }
    return numbers;
}

// A NaN is one, whichever; a zero has its sign.
void expect_same(const std::vector<float> &values, const std::vector<float> &expected) {
    ASSERT_EQ(values.size(), expected.size());
    for (size_t index = 0; index < values.size(); index++) {
        const bool both_nan = std::isnan(values[index]) && std::isnan(expected[index]);
        ASSERT_TRUE(both_nan || std::bit_cast<uint32_t>(values[index]) == std::bit_cast<uint32_t>(expected[index]))
            << values[index] << " for " << expected[index] << ", at " << index;
    }
}

// Beside those of all tests, CPUs of AVX-512 without bf16, and what every CPU has.
constexpr Machine kMachinesThatConvert[] = {kMachines[0],
                                            kMachines[1],
                                            kMachines[2],
                                            {"avx512", "x86-64-linux-avx512_skylake-avx2-fma-f16c-avx-sse41"},
                                            kBaseline};

class Conversions : public KernelTest<nf_dtype> {
public:
    static std::string name_of(const testing::TestParamInfo<ParamType> &test) {
        return field_text(std::get<1>(test.param)) + "_" + std::get<0>(test.param).name;
    }

protected:
    // The type's values in the order of their codes.
    std::vector<float> all_values() const {
        std::vector<float> values;
        for (uint32_t code = 0; code < 0x10000; code++) {
            values.push_back(static_cast<float>(decode_float(float_format(parameter()), code)));
        }
        return values;
    }

    // What is stored as the sum of x and of minus zero, which is x, be it a zero too.
    std::vector<float> stored_sums(nf_dtype from, nf_dtype to, int64_t hidden, std::vector<float> x) {
        NormProblem problem = default_problem(NF_RMS_NORM, hidden, from);
        problem.weight = NF_NONE;
        problem.residual = from;
        problem.sum = to;
        const size_t count = x.size();
        x.resize((count + hidden - 1) / hidden * hidden);
        OperandValues values;
        of(values, OperandId::residual).assign(x.size(), -0.0f);
        of(values, OperandId::x) = std::move(x);
        of(values, OperandId::epsilon) = {1};
        std::vector<float> sums = of(run(problem, values), OperandId::sum);
        sums.resize(count);
        return sums;
    }
};

// Rows of vectors alone, and of nothing but what follows the last vector.
constexpr int64_t kVectors = 64;
constexpr int64_t kTail = 1;

TEST_P(Conversions, EveryValueInVectorsIsReadAndWrittenAsItIs) {
    expect_same(stored_sums(parameter(), NF_F32, kVectors, all_values()), all_values());
    expect_same(stored_sums(parameter(), parameter(), kVectors, all_values()), all_values());
}

TEST_P(Conversions, EveryValueInATailIsReadAndWrittenAsItIs) {
    expect_same(stored_sums(parameter(), NF_F32, kTail, all_values()), all_values());
    expect_same(stored_sums(parameter(), parameter(), kTail, all_values()), all_values());
}

TEST_P(Conversions, NumbersOfF32BecomeTheNearestValue) {
    const std::vector<float> numbers = deciding_numbers(parameter());
    for (int64_t hidden : {kVectors, kTail}) {
        expect_same(stored_sums(NF_F32, parameter(), hidden, numbers), rounded_to(parameter(), numbers));
    }
}

// CPUs that take subnormal numbers for zeros must not do so where one stands among others.
TEST_P(Conversions, OneSubnormalNumberIsRoundedAtEveryPlace) {
    constexpr int64_t kHidden = 2 * kVectors;
    const auto tiny = static_cast<float>(last_place(NF_BF16, 0) * 1.5);
    for (const float sign : {1.0f, -1.0f}) {
        std::vector<float> numbers(kHidden * kHidden, sign);
        for (int64_t row = 0; row < kHidden; row++) {
            numbers[row * kHidden + row] = sign * tiny;
        }
        expect_same(stored_sums(NF_F32, parameter(), kHidden, numbers), rounded_to(parameter(), numbers));
    }
}

INSTANTIATE_TEST_SUITE_P(All, Conversions,
                         testing::Combine(testing::ValuesIn(kMachinesThatConvert),
                                          testing::Values(NF_F16, NF_BF16)),
                         Conversions::name_of);

class F16Conversions : public Conversions {};

TEST_P(F16Conversions, HaveTheReportedValues) {
    expect_same(stored_sums(NF_F32, NF_F16, 7, {0.4999f, 2049, 2051, 65519.99f, 65520, 0x1p-25f, 6e-8f}),
                {0.5f, 2048, 2052, 65504, kInfinity, 0, 0x1p-24f});
}

INSTANTIATE_TEST_SUITE_P(All, F16Conversions,
                         testing::Combine(testing::ValuesIn(kMachinesThatConvert), testing::Values(NF_F16)),
                         Conversions::name_of);

class OutputConversions : public Conversions {};

// A row of ones is normalised to ones, so y is the weight.
TEST_P(OutputConversions, NumbersOfF32BecomeTheNearestValue) {
    const std::vector<float> numbers = deciding_numbers(parameter());
    NormProblem problem = default_problem(NF_RMS_NORM, static_cast<int64_t>(numbers.size()));
    problem.output = parameter();
    problem.scale = is_quantised(parameter()) ? NF_SCALE_STATIC : NF_SCALE_NONE;
    OperandValues values;
    of(values, OperandId::x).assign(numbers.size(), 1.0f);
    of(values, OperandId::weight) = numbers;
    of(values, OperandId::epsilon) = {0};
    of(values, OperandId::scale) = {1};
    expect_same(of(run(problem, values), OperandId::y), rounded_to(parameter(), numbers));
}

INSTANTIATE_TEST_SUITE_P(All, OutputConversions,
                         testing::Combine(testing::ValuesIn(kMachinesThatConvert),
                                          testing::Values(NF_F16, NF_BF16, NF_I8, NF_F8E4M3)),
                         Conversions::name_of);

}  // namespace
}  // namespace normforge
