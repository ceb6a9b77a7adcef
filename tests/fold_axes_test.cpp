#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/norm_problem.h"

namespace normforge {
namespace {

using Numbers = std::vector<int64_t>;

struct Folding {
    const char *name;
    Numbers shape;
    int normalised_axes;
    std::vector<Numbers> strides;  // of each tensor
    nf_status status;
    nf_folded_axes folded;
    std::vector<nf_folded_strides> folded_strides;
};

void PrintTo(const Folding &folding, std::ostream *stream) {
    *stream << folding.name;
}

class FoldAxes : public testing::TestWithParam<Folding> {
protected:
    void SetUp() override {
        std::vector<const int64_t *> strides;
        for (const Numbers &of_tensor : GetParam().strides) {
            ASSERT_EQ(of_tensor.size(), GetParam().shape.size());
            strides.push_back(of_tensor.data());
        }
        status_ = nf_fold_axes(static_cast<int>(GetParam().shape.size()), GetParam().shape.data(),
                               GetParam().normalised_axes, static_cast<int>(strides.size()), strides.data(),
                               &folded_, folded_strides_.data());
    }

    nf_status status_ = NF_SUCCESS;
    nf_folded_axes folded_{-7, -7, -7};
    std::vector<nf_folded_strides> folded_strides_{GetParam().strides.size(), nf_folded_strides{-7, -7}};
};

TEST_P(FoldAxes, GivesRowsAndGroups) {
    const Folding &folding = GetParam();
    ASSERT_EQ(status_, folding.status);
    const bool folds = folding.status == NF_SUCCESS;
    EXPECT_EQ(folded_.hidden, folds ? folding.folded.hidden : -7);
    EXPECT_EQ(folded_.rows, folds ? folding.folded.rows : -7);
    EXPECT_EQ(folded_.groups, folds ? folding.folded.groups : -7);
    for (size_t tensor = 0; tensor < folding.strides.size(); tensor++) {
        EXPECT_EQ(folded_strides_[tensor].row_stride, folds ? folding.folded_strides[tensor].row_stride : -7);
        EXPECT_EQ(folded_strides_[tensor].group_stride, folds ? folding.folded_strides[tensor].group_stride : -7);
    }
}

// Where the first value of each row is, in the order of the axes.
Numbers rows_by_axes(const Numbers &shape, size_t leading, const Numbers &strides) {
    Numbers rows{0};
    for (size_t axis = 0; axis < leading; axis++) {
        Numbers finer;
        for (const int64_t row : rows) {
            for (int64_t place = 0; place < shape[axis]; place++) {
                finer.push_back(row + place * strides[axis]);
            }
        }
        rows = finer;
    }
    return rows;
}

TEST_P(FoldAxes, KeepsTheRowsInOrder) {
    if (status_ != NF_SUCCESS || folded_.rows == 0) {
        return;
    }
    const Folding &folding = GetParam();
    for (size_t tensor = 0; tensor < folding.strides.size(); tensor++) {
        Numbers rows;
        for (int64_t group = 0; group < folded_.groups; group++) {
            for (int64_t row = 0; row < folded_.rows; row++) {
                const nf_folded_strides &strides = folded_strides_[tensor];
                rows.push_back(group * strides.group_stride + row * strides.row_stride);
            }
        }
        const size_t leading = folding.shape.size() - folding.normalised_axes;
        EXPECT_EQ(rows, rows_by_axes(folding.shape, leading, folding.strides[tensor]));
    }
}

constexpr int64_t kLarge = int64_t{1} << 40;

INSTANTIATE_TEST_SUITE_P(
    All, FoldAxes,
    testing::Values(
        Folding{"one_row", {8}, 1, {{1}}, NF_SUCCESS, {8, 1, 1}, {{8, 0}}},
        Folding{"matrix", {3, 8}, 1, {{8, 1}}, NF_SUCCESS, {8, 3, 1}, {{8, 0}}},
        Folding{"matrix_with_gaps", {3, 8}, 1, {{10, 1}}, NF_SUCCESS, {8, 3, 1}, {{10, 0}}},
        Folding{"all_axes", {3, 8}, 2, {{8, 1}}, NF_SUCCESS, {24, 1, 1}, {{24, 0}}},
        Folding{"last_of_three", {2, 3, 4}, 1, {{12, 4, 1}}, NF_SUCCESS, {4, 6, 1}, {{4, 0}}},
        Folding{"last_two_of_three", {2, 3, 4}, 2, {{12, 4, 1}}, NF_SUCCESS, {12, 2, 1}, {{12, 0}}},
        Folding{"five_axes", {2, 3, 2, 5, 4}, 1, {{120, 40, 20, 4, 1}}, NF_SUCCESS, {4, 60, 1}, {{4, 0}}},
        Folding{"hidden_one", {3, 1}, 1, {{1, 1}}, NF_SUCCESS, {1, 3, 1}, {{1, 0}}},
        // The query's heads in a buffer of queries, keys and values.
        Folding{"heads", {5, 2, 4}, 1, {{24, 4, 1}}, NF_SUCCESS, {4, 2, 5}, {{4, 24}}},
        Folding{"heads_of_batches", {3, 5, 2, 4}, 1, {{120, 24, 4, 1}}, NF_SUCCESS, {4, 2, 15}, {{4, 24}}},
        Folding{"heads_first", {2, 5, 4}, 1, {{4, 24, 1}}, NF_SUCCESS, {4, 5, 2}, {{24, 4}}},
        Folding{"heads_between", {3, 2, 5, 4}, 1, {{120, 4, 24, 1}}, NF_ERROR_NOT_FOLDABLE, {}, {}},
        Folding{"heads_between_one_batch", {1, 2, 5, 4}, 1, {{7, 4, 24, 1}}, NF_SUCCESS, {4, 5, 2}, {{24, 4}}},
        Folding{"three_gaps", {2, 3, 2, 4}, 1, {{100, 20, 5, 1}}, NF_ERROR_NOT_FOLDABLE, {}, {}},
        Folding{"outer_two_merge", {2, 3, 2, 4}, 1, {{60, 20, 5, 1}}, NF_SUCCESS, {4, 2, 6}, {{5, 20}}},
        Folding{"inner_two_merge", {2, 3, 2, 4}, 1, {{100, 8, 4, 1}}, NF_SUCCESS, {4, 6, 2}, {{4, 100}}},
        Folding{"broadcast", {2, 3, 4}, 1, {{0, 0, 1}}, NF_SUCCESS, {4, 6, 1}, {{0, 0}}},
        Folding{"broadcast_batch", {2, 3, 4}, 1, {{0, 4, 1}}, NF_SUCCESS, {4, 3, 2}, {{4, 0}}},
        Folding{"backwards", {2, 3, 4}, 1, {{-12, -4, 1}}, NF_SUCCESS, {4, 6, 1}, {{-4, 0}}},
        // Tensors together: an axis is one for all of them or for none.
        Folding{"two_alike", {2, 3, 4}, 1, {{12, 4, 1}, {15, 5, 1}}, NF_SUCCESS, {4, 6, 1}, {{4, 0}, {5, 0}}},
        Folding{"one_has_gaps", {2, 3, 4}, 1, {{12, 4, 1}, {16, 4, 1}}, NF_SUCCESS, {4, 3, 2}, {{4, 12}, {4, 16}}},
        Folding{"gaps_at_different_axes",
                {2, 3, 2, 4},
                1,
                {{24, 8, 4, 1}, {30, 10, 4, 1}, {28, 8, 4, 1}},
                NF_ERROR_NOT_FOLDABLE,
                {},
                {}},
        Folding{"no_tensor", {2, 3, 4}, 1, {}, NF_SUCCESS, {4, 6, 1}, {}},
        // Axes of extent 1 are not looked at.
        Folding{"ones_between", {2, 1, 3, 1, 4}, 1, {{12, -5, 4, 99, 1}}, NF_SUCCESS, {4, 6, 1}, {{4, 0}}},
        Folding{"ones_among_normalised", {2, 3, 1, 4}, 3, {{12, 4, 99, 1}}, NF_SUCCESS, {12, 2, 1}, {{12, 0}}},
        Folding{"all_ones", {1, 1, 1}, 2, {{5, 6, 7}}, NF_SUCCESS, {1, 1, 1}, {{1, 0}}},
        Folding{"last_has_a_stride", {3, 4}, 1, {{8, 2}}, NF_ERROR_NOT_FOLDABLE, {}, {}},
        Folding{"gap_in_a_row", {2, 3, 4}, 2, {{24, 8, 1}}, NF_ERROR_NOT_FOLDABLE, {}, {}},
        Folding{"transposed_row", {2, 3, 4}, 2, {{12, 1, 3}}, NF_ERROR_NOT_FOLDABLE, {}, {}},
        Folding{"second_tensor_has_a_gap", {3, 4}, 1, {{4, 1}, {4, 2}}, NF_ERROR_NOT_FOLDABLE, {}, {}},
        // No values.
        Folding{"no_rows", {0, 8}, 1, {{8, 1}}, NF_SUCCESS, {8, 0, 1}, {{8, 0}}},
        Folding{"no_rows_of_any_strides", {2, 0, 3, 5, 8}, 1, {{0, 9, 0, 1, 3}}, NF_SUCCESS, {8, 0, 1}, {{8, 0}}},
        Folding{"no_rows_of_many", {kLarge, kLarge, 0, 8}, 1, {{0, 0, 0, 1}}, NF_SUCCESS, {8, 0, 1}, {{8, 0}}},
        Folding{"no_hidden", {3, 0}, 1, {{1, 1}}, NF_ERROR_BAD_HIDDEN, {}, {}},
        Folding{"no_rows_and_no_hidden", {0, 0}, 1, {{1, 1}}, NF_ERROR_BAD_HIDDEN, {}, {}},
        // Limits.
        Folding{"most_hidden", {4096, 8192}, 2, {{8192, 1}}, NF_SUCCESS, {NF_MAX_HIDDEN, 1, 1}, {{1 << 25, 0}}},
        Folding{"too_much_hidden", {4096, 8193}, 2, {{8193, 1}}, NF_ERROR_BAD_HIDDEN, {}, {}},
        Folding{"hidden_beyond_count", {kLarge, kLarge}, 2, {{kLarge, 1}}, NF_ERROR_BAD_HIDDEN, {}, {}},
        Folding{"rows_beyond_count", {kLarge, kLarge, 8}, 1, {{0, 0, 1}}, NF_ERROR_BAD_AXES, {}, {}},
        Folding{
            "reach_beyond_count", {2, 2, 8}, 1, {{-2, INT64_MAX, 1}}, NF_SUCCESS, {8, 2, 2}, {{INT64_MAX, -2}}},
        Folding{"negative_extent", {-3, 8}, 1, {{8, 1}}, NF_ERROR_BAD_AXES, {}, {}},
        Folding{"negative_normalised_extent", {3, -8}, 1, {{8, 1}}, NF_ERROR_BAD_AXES, {}, {}},
        Folding{"nothing_normalised", {3, 8}, 0, {{8, 1}}, NF_ERROR_BAD_AXES, {}, {}},
        Folding{"more_normalised_than_there_are", {3, 8}, 3, {{8, 1}}, NF_ERROR_BAD_AXES, {}, {}},
        Folding{"no_axes", {}, 0, {{}}, NF_ERROR_BAD_AXES, {}, {}},
        Folding{"most_axes", Numbers(64, 1), 64, {Numbers(64, 5)}, NF_SUCCESS, {1, 1, 1}, {{1, 0}}},
        Folding{"too_many_axes", Numbers(65, 1), 1, {Numbers(65, 5)}, NF_ERROR_BAD_AXES, {}, {}}),
    [](const auto &test) { return std::string(test.param.name); });

TEST(FoldAxesArguments, MustBeThere) {
    const int64_t shape[] = {3, 8};
    const int64_t strides[] = {8, 1};
    const int64_t *const of_tensors[] = {strides, nullptr};
    nf_folded_axes folded;
    nf_folded_strides folded_strides[2];
    EXPECT_EQ(nf_fold_axes(2, nullptr, 1, 1, of_tensors, &folded, folded_strides), NF_ERROR_NULL_ARGUMENT);
    EXPECT_EQ(nf_fold_axes(2, shape, 1, 1, nullptr, &folded, folded_strides), NF_ERROR_NULL_ARGUMENT);
    EXPECT_EQ(nf_fold_axes(2, shape, 1, 2, of_tensors, &folded, folded_strides), NF_ERROR_NULL_ARGUMENT);
    EXPECT_EQ(nf_fold_axes(2, shape, 1, 1, of_tensors, nullptr, folded_strides), NF_ERROR_NULL_ARGUMENT);
    EXPECT_EQ(nf_fold_axes(2, shape, 1, 1, of_tensors, &folded, nullptr), NF_ERROR_NULL_ARGUMENT);
    EXPECT_EQ(nf_fold_axes(2, shape, 1, -1, of_tensors, &folded, folded_strides), NF_ERROR_BAD_AXES);
    EXPECT_EQ(nf_fold_axes(2, shape, 1, 0, nullptr, &folded, nullptr), NF_SUCCESS);
}

}  // namespace
}  // namespace normforge
