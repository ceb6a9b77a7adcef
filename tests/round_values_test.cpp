#include "runtime/round_values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <vector>

#include "runtime/float_types.h"

namespace normforge {
namespace {

class RoundedValues : public testing::TestWithParam<nf_dtype> {
protected:
    // As store_value has it, all at once and a few at a time, and no byte after the values.
    static void expect_rounded(const std::vector<float> &values) {
        const nf_dtype type = GetParam();
        const size_t value_bytes = element_size(type);
        std::vector<char> expected(values.size() * value_bytes + 1, 7);
        for (size_t index = 0; index < values.size(); index++) {
            store_value(expected.data(), type, static_cast<int64_t>(index), values[index]);
        }
        for (const size_t at_once : {std::max<size_t>(values.size(), 1), kFew}) {
            std::vector<char> rounded(expected.size(), 7);
            for (size_t first = 0; first < values.size(); first += at_once) {
                round_values(&rounded[first * value_bytes], type, &values[first],
                             static_cast<int64_t>(std::min(at_once, values.size() - first)));
            }
            ASSERT_EQ(first_difference(rounded, expected), expected.size()) << at_once << " at a time";
        }
    }

private:
    static constexpr size_t kFew = 7;  // less than any vector

    static size_t first_difference(const std::vector<char> &a, const std::vector<char> &b) {
        return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin());
    }
};

// Every value of the upper half of an f32, with lower halves that decide about a rounding to fewer bits.
TEST_P(RoundedValues, AreThoseOfStoredOnes) {
    for (const uint32_t lower : {0x0000u, 0x0001u, 0x0fffu, 0x1000u, 0x1001u, 0x2fffu, 0x3000u, 0x3001u, 0x7fffu,
                                 0x8000u, 0x8001u, 0xd000u, 0xefffu, 0xf000u, 0xf001u, 0xffffu}) {
        std::vector<float> values;
        for (uint32_t upper = 0; upper <= 0xffff; upper++) {
            values.push_back(std::bit_cast<float>(upper << 16 | lower));
        }
        expect_rounded(values);
    }
}

TEST_P(RoundedValues, MayBeOfAnyNumber) {
    std::vector<float> values;
    for (int count = 0; count <= 40; count++) {
        expect_rounded(values);
        values.push_back(std::ldexp(1.0f + static_cast<float>(count) / 64, count - 20));
    }
}

INSTANTIATE_TEST_SUITE_P(All, RoundedValues, testing::Values(NF_F16, NF_BF16),
                         [](const auto &test) { return field_text(test.param); });

}  // namespace
}  // namespace normforge
