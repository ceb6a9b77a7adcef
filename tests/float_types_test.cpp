#include "runtime/float_types.h"

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <vector>

namespace normforge {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A float type as its authors describe it, in numbers of its own: significand bits with the leading one, and the
// exponents of the smallest and largest normal value.
struct TypeFacts {
    nf_dtype type;
    int significand_bits;
    int smallest_exponent;
    double largest;
    double beyond_largest;  // what the first value too large to be nearer to the largest becomes
};

constexpr TypeFacts kFloatTypes[] = {{NF_F32, 24, -126, 0x1.fffffep127, kInfinity},
                                     {NF_F16, 11, -14, 65504, kInfinity},
                                     {NF_BF16, 8, -126, 0x1.fep127, kInfinity},
                                     {NF_F8E4M3, 4, -6, 448, 448}};

std::string name_of_type(const testing::TestParamInfo<TypeFacts> &test) {
    return field_text(test.param.type);
}

// The distance from a value that is not negative to the next one.
double unit_at(const TypeFacts &facts, double value) {
    const int exponent =
        value == 0 ? facts.smallest_exponent : std::max(std::ilogb(value), facts.smallest_exponent);
    return std::ldexp(1, exponent - facts.significand_bits + 1);
}

// The finite values from zero on, rising. Of f32 those near the powers of two.
std::vector<double> values_from_zero(const TypeFacts &facts) {
    std::vector<double> values;
    const int stored_values = 1 << (facts.significand_bits - 1);
    const int values_at_ends = stored_values > 4096 ? 64 : stored_values;
    for (int exponent = facts.smallest_exponent - 1;; exponent++) {
        for (int index = 0; index < stored_values; index++) {
            if (index == values_at_ends) {
                index = stored_values - values_at_ends;
            }
            const bool subnormal = exponent < facts.smallest_exponent;
            const double value =
                std::ldexp(subnormal ? index : stored_values + index,
                           std::max(exponent, facts.smallest_exponent) - facts.significand_bits + 1);
            if (value > facts.largest) {
                return values;
            }
            values.push_back(value);
        }
    }
}

void expect_rounds(nf_dtype type, double value, double expected) {
    for (double sign : {1.0, -1.0}) {
        const double rounded = round_to(type, sign * value);
        ASSERT_EQ(rounded, sign * expected) << field_text(type) << " " << sign * value;
        ASSERT_EQ(std::signbit(rounded), sign < 0) << field_text(type) << " " << sign * value;
    }
}

class EachFloatType : public testing::TestWithParam<TypeFacts> {};

TEST_P(EachFloatType, KeepsItsOwnValues) {
    const std::vector<double> values = values_from_zero(GetParam());
    ASSERT_EQ(values.back(), GetParam().largest);
    EXPECT_EQ(largest_value(GetParam().type), GetParam().largest);
    for (double value : values) {
        expect_rounds(GetParam().type, value, value);
    }
}

// The numbers just beside a tie are ones that a rounding by way of f32 would turn into the tie.
TEST_P(EachFloatType, RoundsToTheNearestAndTiesToEven) {
    const std::vector<double> values = values_from_zero(GetParam());
    for (size_t index = 0; index + 1 < values.size(); index++) {
        const double below = values[index];
        const double above = values[index + 1];
        const double unit = unit_at(GetParam(), below);
        if (above - below != unit) {
            continue;  // values between them are left out
        }
        const double tie = below + unit / 2;
        expect_rounds(GetParam().type, tie, std::fmod(below / unit, 2) == 0 ? below : above);
        expect_rounds(GetParam().type, std::nextafter(tie, 0), below);
        expect_rounds(GetParam().type, std::nextafter(tie, kInfinity), above);
    }
}

TEST_P(EachFloatType, GoesBeyondItsLargestValueFromHalfAUnitOn) {
    const TypeFacts &facts = GetParam();
    const double tie = facts.largest + unit_at(facts, facts.largest) / 2;
    expect_rounds(facts.type, std::nextafter(tie, 0), facts.largest);
    for (double value : {tie, 2 * tie, std::numeric_limits<double>::max(), kInfinity}) {
        expect_rounds(facts.type, value, facts.beyond_largest);
    }
}

TEST_P(EachFloatType, LosesWhatIsBelowHalfItsSmallestValue) {
    const TypeFacts &facts = GetParam();
    const double smallest = unit_at(facts, 0);
    expect_rounds(facts.type, smallest / 2, 0);
    expect_rounds(facts.type, std::nextafter(smallest / 2, 1), smallest);
    expect_rounds(facts.type, std::numeric_limits<double>::denorm_min(), 0);
    expect_rounds(facts.type, std::numeric_limits<double>::min(), 0);
    expect_rounds(facts.type, 0, 0);
}

TEST_P(EachFloatType, KeepsNan) {
    for (double nan : {kNan, -kNan, std::numeric_limits<double>::signaling_NaN(),
                       std::bit_cast<double>(kF64Infinity + 1), std::bit_cast<double>(~uint64_t{0})}) {
        EXPECT_TRUE(std::isnan(round_to(GetParam().type, nan)));
        uint32_t code = 0;
        store_value(&code, GetParam().type, 0, nan);
        EXPECT_TRUE(std::isnan(load_value(&code, GetParam().type, 0)));
    }
}

// A program may have set another mode; what it stores must not depend on that.
TEST_P(EachFloatType, DoesNotHeedTheRoundingMode) {
    const TypeFacts &facts = GetParam();
    ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
    const double tie = round_to(facts.type, 1 + unit_at(facts, 1) / 2);
    const double subnormal = round_to(facts.type, unit_at(facts, 0) * 1.25);
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(tie, 1);
    EXPECT_EQ(subnormal, unit_at(facts, 0));
}

INSTANTIATE_TEST_SUITE_P(All, EachFloatType, testing::ValuesIn(kFloatTypes), name_of_type);

struct CodedType {
    nf_dtype type;
    uint64_t codes;
    double (*value)(uint32_t code);  // found without the code under test
    uint32_t step = 1;               // from one code that is tried to the next
};

double f32_value(uint32_t code) {
    return std::bit_cast<float>(code);
}

double bf16_value(uint32_t code) {
    return std::bit_cast<float>(code << 16);
}

// Of the two types whose codes are too short to hold those of f32.
template <int stored_bits, int bias, uint32_t first_beyond>
double small_float_value(uint32_t code) {
    constexpr int sign_bit = stored_bits == 10 ? 15 : 7;
    const uint32_t magnitude = code & ((1u << sign_bit) - 1);
    const int exponent = static_cast<int>(magnitude >> stored_bits);
    const double fraction = std::ldexp(magnitude & ((1u << stored_bits) - 1), -stored_bits);
    const double value = exponent ? std::ldexp(1 + fraction, exponent - bias) : std::ldexp(fraction, 1 - bias);
    const double beyond = stored_bits == 10 && magnitude == first_beyond ? kInfinity : kNan;
    return std::copysign(magnitude >= first_beyond ? beyond : value, code >> sign_bit ? -1 : 1);
}

double i8_value(uint32_t code) {
    return static_cast<double>(code) - (code >= 128 ? 256 : 0);
}

class EachCode : public testing::TestWithParam<CodedType> {};

TEST_P(EachCode, IsReadAndWrittenBack) {
    const auto &[type, codes, value, step] = GetParam();
    for (uint64_t index = 0; index < codes; index += step) {
        const auto code = static_cast<uint32_t>(index);
        const double expected = value(code);
        const double loaded = load_value(&code, type, 0);
        uint32_t stored = 0;
        store_value(&stored, type, 0, loaded);
        if (std::isnan(expected)) {
            ASSERT_TRUE(std::isnan(loaded)) << code;
            ASSERT_TRUE(std::isnan(value(stored))) << code;
        } else {
            ASSERT_EQ(loaded, expected) << code;
            ASSERT_EQ(std::signbit(loaded), std::signbit(expected)) << code;
            ASSERT_EQ(stored, code);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, EachCode,
                         testing::Values(CodedType{NF_F16, 65536, small_float_value<10, 15, 0x7c00>},
                                         CodedType{NF_BF16, 65536, bf16_value},
                                         CodedType{NF_F8E4M3, 256, small_float_value<3, 7, 0x7f>},
                                         CodedType{NF_I8, 256, i8_value},
                                         CodedType{NF_F32, uint64_t{1} << 32, f32_value, 65521}),
                         [](const auto &test) { return field_text(test.param.type); });

struct Rounding {
    nf_dtype type;
    double value;
    double expected;
};

class EachRounding : public testing::TestWithParam<Rounding> {};

TEST_P(EachRounding, IsThis) {
    EXPECT_EQ(round_to(GetParam().type, GetParam().value), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    All, EachRounding,
    testing::Values(
        // Ones that public converters got wrong.
        Rounding{NF_F16, 0.4999, 0.5}, Rounding{NF_F16, 2049, 2048}, Rounding{NF_F16, 2051, 2052},
        Rounding{NF_F16, 65519.99, 65504}, Rounding{NF_F16, 65520, kInfinity}, Rounding{NF_F16, 0x1p-25, 0},
        Rounding{NF_F16, 6e-8, 0x1p-24},
        // In f32 it would be the tie 1 + 2^-8, and that is 1.
        Rounding{NF_BF16, 1 + 0x1p-8 + 0x1p-40, 1 + 0x1p-7},
        // Where a truncating or wrapping conversion differs.
        Rounding{NF_I8, 127.6, 127}, Rounding{NF_I8, -127.6, -128}, Rounding{NF_I8, -128.5, -128},
        Rounding{NF_I8, 126.5, 126}, Rounding{NF_I8, 125.5, 126}, Rounding{NF_I8, 0.5, 0}, Rounding{NF_I8, 1.5, 2},
        Rounding{NF_I8, -0.5, 0}, Rounding{NF_I8, -1.5, -2}, Rounding{NF_I8, -126.5, -126},
        Rounding{NF_I8, -127.5, -128}, Rounding{NF_I8, 0.49999999999999994, 0},
        Rounding{NF_I8, 2.5000000000000004, 3}, Rounding{NF_I8, 1e300, 127}, Rounding{NF_I8, -1e300, -128},
        Rounding{NF_I8, kInfinity, 127}, Rounding{NF_I8, -kInfinity, -128}, Rounding{NF_I8, kNan, 0},
        Rounding{NF_F8E4M3, 464, 448}, Rounding{NF_F8E4M3, 465, 448}, Rounding{NF_F8E4M3, -1e9, -448},
        Rounding{NF_F8E4M3, 136, 128}, Rounding{NF_F8E4M3, 152, 160}, Rounding{NF_F8E4M3, 0x3p-10, 0x1p-8}),
    [](const auto &test) { return field_text(test.param.type) + "_" + std::to_string(test.index); });

static_assert(round_to(NF_BF16, 1.0 / 3) == 0.333984375);
static_assert(largest_value(NF_I8) == 127);

TEST(Arrays, AreReadAndWrittenByIndex) {
    for (const auto &[name, type] : kDTypes) {
        if (type == NF_NONE) {
            continue;
        }
        uint32_t values[4] = {};
        for (int64_t index = 0; index < 4; index++) {
            store_value(values, type, index, static_cast<double>(index + 1));
        }
        store_value(values, type, 2, -8);
        const double expected[] = {1, 2, -8, 4};
        for (int64_t index = 0; index < 4; index++) {
            EXPECT_EQ(load_value(values, type, index), expected[index]) << name;
        }
    }
}

}  // namespace
}  // namespace normforge
