#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include "tests/argument_examples.h"
#include "tests/parallel_loops.h"
#include "tests/summing_kernel.h"

namespace normforge {
namespace {

constexpr int64_t kSliceRows = 64;  // of so few values

// Values of which f32 sums in another order have other bits, while products and their sums in f64 are exact, so
// that it is no matter whether these are contracted.
std::vector<float> uneven_values(int64_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<float> values(count);
    for (float &value : values) {
        const auto mantissa = static_cast<float>(random() % 0x1000) - 0x800;
        value = std::ldexp(mantissa, static_cast<int>(random() % 8));
    }
    return values;
}

std::vector<float> powers_of_two(int64_t count) {
    std::vector<float> values(count);
    for (int64_t index = 0; index < count; index++) {
        values[index] = std::ldexp(1.0f, static_cast<int>(index % 3));
    }
    return values;
}

// A call with memory of its own. Rows have gaps of that many values, in which there is no row of another group.
class Call {
public:
    Call(int64_t rows, int64_t groups, int64_t gap = 0)
        : stride_(kHidden + gap), x_(uneven_values(rows * groups * kHidden, 1)),
          dy_(uneven_values(rows * groups * kHidden, 2)), mean_(uneven_values(rows * groups, 3)),
          rstd_(powers_of_two(rows * groups)), spread_x_(spread(x_)), spread_dy_(spread(dy_)) {
        arguments_.rows = rows;
        arguments_.groups = groups;
        arguments_.x = {spread_x_.data(), stride_, rows * stride_};
        arguments_.dy = {spread_dy_.data(), stride_, rows * stride_};
        arguments_.weight = at(uintptr_t{1} << 59);
        arguments_.mean = mean_.data();
        arguments_.rstd = rstd_.data();
        arguments_.dx = {at(uintptr_t{1} << 60), kHidden, rows * kHidden};
    }

    nf_arguments &arguments() { return arguments_; }

    // dweight and then dbias, of types f32; each stays as it is where the problem has none.
    std::vector<float> run(const NormProblem &problem, const nf_threads *threads = nullptr) {
        const nf_kernel kernel = summing_kernel(problem);
        constexpr float kUntouched = -1234;
        std::vector<float> gradients(2 * kHidden, kUntouched);
        arguments_.dweight = gradients.data();
        arguments_.dbias = gradients.data() + kHidden;
        const int64_t values =
            nf_workspace_bytes_on(&kernel, arguments_.rows, arguments_.groups, threads ? threads->count : 1) /
            int64_t{4};
        std::vector<float> workspace(values + 1, kUntouched);
        arguments_.workspace = workspace.data();
        rows_of_calls.clear();
        EXPECT_EQ(nf_run_on(&kernel, &arguments_, threads), NF_SUCCESS)
            << nf_operand_at_fault(&kernel, &arguments_);
        EXPECT_EQ(workspace.back(), kUntouched);
        return gradients;
    }

    // The same by another way: slices halved again and again, so that the left part is a power of two.
    std::vector<float> expected(int64_t rows_at_once = kSliceRows) const {
        std::vector<std::vector<float>> slices;
        for (int64_t group = 0; group < arguments_.groups; group++) {
            for (int64_t row = 0; row < arguments_.rows; row += kSliceRows) {
                const int64_t end = std::min(arguments_.rows, row + kSliceRows);
                slices.push_back(slice(group, row, end, rows_at_once));
            }
        }
        return sum_tree(slices, 0, slices.size());
    }

private:
    std::vector<float> spread(const std::vector<float> &values) const {
        std::vector<float> rows(values.size() / kHidden * stride_);
        for (size_t index = 0; index < values.size(); index++) {
            rows[index / kHidden * stride_ + index % kHidden] = values[index];
        }
        return rows;
    }

    std::vector<float> part(int64_t first, int64_t end) const {
        std::vector<double> sums(2 * kHidden);
        for (int64_t row = first; row < end; row++) {
            for (int64_t index = 0; index < kHidden; index++) {
                const double dy = dy_[row * kHidden + index];
                sums[index] += (double{x_[row * kHidden + index]} - mean_[row]) * rstd_[row] * dy;
                sums[kHidden + index] += dy;
            }
        }
        return {sums.begin(), sums.end()};
    }

    std::vector<float> slice(int64_t group, int64_t row, int64_t end, int64_t rows_at_once) const {
        const int64_t first = group * arguments_.rows;
        std::vector<float> sums = part(first + row, first + std::min(end, row + rows_at_once));
        for (row += rows_at_once; row < end; row += rows_at_once) {
            sums = add(sums, part(first + row, first + std::min(end, row + rows_at_once)));
        }
        return sums;
    }

    static std::vector<float> add(std::vector<float> left, const std::vector<float> &right) {
        for (size_t index = 0; index < left.size(); index++) {
            left[index] += right[index];
        }
        return left;
    }

    static std::vector<float> sum_tree(const std::vector<std::vector<float>> &slices, size_t first, size_t count) {
        if (count == 1) {
            return slices[first];
        }
        const size_t left = std::bit_floor(count - 1);
        return add(sum_tree(slices, first, left), sum_tree(slices, first + left, count - left));
    }

    int64_t stride_;
    std::vector<float> x_, dy_, mean_, rstd_;
    std::vector<float> spread_x_, spread_dy_;
    nf_arguments arguments_{};
};

struct Rows {
    int64_t rows;
    int64_t groups;
};

void PrintTo(const Rows &rows, std::ostream *stream) {
    *stream << rows.rows << " rows of " << rows.groups << " groups";
}

class Gradients : public testing::TestWithParam<Rows> {};

TEST_P(Gradients, AreSummedInOneFixedTree) {
    const auto &[rows, groups] = GetParam();
    Call call(rows, groups);
    const std::vector<float> expected = call.expected();
    EXPECT_EQ(call.run(backward_problem()), expected);
    EXPECT_EQ(Call(rows, groups, 7).run(backward_problem()), expected) << "with gaps between rows";
}

TEST_P(Gradients, ComeFromSlicesOfEachGroup) {
    const auto &[rows, groups] = GetParam();
    Call(rows, groups).run(backward_problem());
    std::vector<int64_t> expected;
    for (int64_t group = 0; group < groups; group++) {
        for (int64_t row = 0; row < rows; row += kSliceRows) {
            expected.push_back(std::min(kSliceRows, rows - row));
        }
    }
    EXPECT_EQ(rows_of_calls, expected);
}

// The sums of the one are not disturbed by the absence of the other, nor is an absent one's field looked at.
TEST_P(Gradients, MayBeAbsent) {
    const auto &[rows, groups] = GetParam();
    Call call(rows, groups);
    const std::vector<float> both = call.run(backward_problem());
    const std::vector<float> weight_only = call.run(backward_problem("weight=f32,bias=none"));
    const std::vector<float> bias_only = call.run(backward_problem("weight=none,bias=f32"));
    const std::vector<float> none = call.run(backward_problem("weight=none,bias=none"));
    for (int64_t index = 0; index < kHidden; index++) {
        EXPECT_EQ(weight_only[index], both[index]);
        EXPECT_EQ(weight_only[kHidden + index], none[kHidden + index]);
        EXPECT_EQ(bias_only[index], none[index]);
        EXPECT_EQ(bias_only[kHidden + index], both[kHidden + index]);
    }
}

// Rows of x so far apart that a slice has more than 31 bits of offsets: 31 of them do not.
TEST_P(Gradients, OfLongStridesAreSummedInPartsOfASlice) {
    const auto &[rows, groups] = GetParam();
    Call call(rows, groups);
    const std::vector<float> expected = call.expected(31);
    call.arguments().dx.row_stride = int64_t{1} << 26;
    call.arguments().dx.group_stride = rows << 26;
    EXPECT_EQ(call.run(backward_problem()), expected);
    for (const int64_t rows_of_call : rows_of_calls) {
        EXPECT_LE(rows_of_call, 31);
    }
}

// Also where threads get parts of the slices that are no whole subtree.
TEST_P(Gradients, AreTheSameOnThreads) {
    const auto &[rows, groups] = GetParam();
    Call call(rows, groups);
    Call in_parts(rows, groups);
    in_parts.arguments().dx.row_stride = int64_t{1} << 26;
    in_parts.arguments().dx.group_stride = rows << 26;
    const std::vector<float> expected = call.expected();
    const std::vector<float> expected_in_parts = call.expected(31);
    for (const int64_t count : {2, 3, 5, 64, 5000}) {
        for (const LoopKind &kind : kSerialLoops) {
            const nf_threads threads{kind.loop, nullptr, count};
            EXPECT_EQ(call.run(backward_problem(), &threads), expected) << kind << " on " << count;
            EXPECT_EQ(in_parts.run(backward_problem(), &threads), expected_in_parts) << kind << " on " << count;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, Gradients,
                         testing::Values(Rows{1, 1}, Rows{63, 1}, Rows{64, 1}, Rows{65, 1}, Rows{1000, 1},
                                         Rows{8192, 1}, Rows{65537, 1}, Rows{1, 5}, Rows{1, 64}, Rows{65, 2},
                                         Rows{200, 3}, Rows{7, 1000}, Rows{65, 101}),
                         [](const auto &test) {
                             return std::to_string(test.param.rows) + "_rows_of_" +
                                    std::to_string(test.param.groups) + "_groups";
                         });

// The variant for few rows would be seen as a call of no rows.
TEST(GradientsOfAllRows, TogetherChooseTheVariant) {
    static constexpr nf_variant kVariants[] = {
        {[](const nf_arguments *) { rows_of_calls.push_back(0); }, 0, "few_rows", "", ""},
        {sum_rows<kHidden>, 64, "many_rows", "", ""}};
    const NormProblem problem = backward_problem("weight=none,bias=none");
    const nf_kernel kernel{problem, 0, "any", std::size(kVariants), kVariants};
    const auto rows_of = [&](int64_t rows, int64_t groups) {
        Call call(rows, groups);
        rows_of_calls.clear();
        EXPECT_EQ(nf_run(&kernel, &call.arguments()), NF_SUCCESS);
        return rows_of_calls;
    };
    EXPECT_EQ(rows_of(31, 2), (std::vector<int64_t>{0, 0}));
    EXPECT_EQ(rows_of(32, 2), (std::vector<int64_t>{32, 32}));
    EXPECT_EQ(rows_of(66, 1), (std::vector<int64_t>{64, 2}));
}

}  // namespace
}  // namespace normforge
