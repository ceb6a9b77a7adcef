#include <gtest/gtest.h>

#include <bit>
#include <map>

#include "tests/argument_examples.h"

namespace normforge {
namespace {

constexpr int64_t kHidden = 16;

class Run : public testing::Test {
protected:
    void SetUp() override { entry_calls.clear(); }

    const nf_kernel kernel_ = recording_kernel(default_problem(NF_LAYER_NORM, kHidden));
};

TEST_F(Run, HandsOverOneGroupAsItIs) {
    const nf_arguments arguments = example_arguments(kernel_.problem, 3);
    ASSERT_EQ(nf_run(&kernel_, &arguments), NF_SUCCESS);
    ASSERT_EQ(entry_calls.size(), 1u);
    EXPECT_EQ(std::memcmp(&entry_calls[0].arguments, &arguments, sizeof arguments), 0);
}

TEST_F(Run, ZeroRowsTouchNothing) {
    const nf_arguments arguments{};
    EXPECT_EQ(nf_run(&kernel_, &arguments), NF_SUCCESS);
    EXPECT_TRUE(entry_calls.empty());
}

// What a call was asked to do, row by row: where each operand's row or row value is.
std::vector<std::map<std::string, uintptr_t>> places_of_rows(const NormProblem &problem,
                                                             const nf_arguments &arguments) {
    std::vector<std::map<std::string, uintptr_t>> rows;
    for (int64_t group = 0; group < std::max<int64_t>(1, arguments.groups); group++) {
        for (int64_t row = 0; row < arguments.rows; row++) {
            auto &places = rows.emplace_back();
            for (const Operand &operand : kOperands) {
                const size_t value_bytes = element_size(operand_type(problem, operand));
                if (value_bytes == 0 || operand.shape == OperandShape::number) {
                    continue;
                }
                const auto field = load_field<RowsField>(arguments, operand);
                int64_t values = 0;
                if (operand.shape == OperandShape::rows) {
                    values =
                        (row == 0 ? 0 : row * field.row_stride) + (group == 0 ? 0 : group * field.group_stride);
                } else if (operand.shape == OperandShape::row_values) {
                    values = group * arguments.rows + row;
                }
                places[operand.name] = address_of(field.data) + values * value_bytes;
            }
        }
    }
    return rows;
}

struct Shape {
    const char *name;
    int64_t rows;
    int64_t groups;
    // From one row to the next and from one group to the next, in values.
    int64_t x_row, x_group;
    int64_t y_row, y_group;
    size_t calls;
};

void PrintTo(const Shape &shape, std::ostream *stream) {
    *stream << shape.name;
}

class RunInParts : public Run, public testing::WithParamInterface<Shape> {};

constexpr int64_t kTooLong = int64_t{1} << 31;

// Each row of each operand must be asked for once, in order, where the caller has it.
TEST_P(RunInParts, OffsetsFit31Bits) {
    const Shape &shape = GetParam();
    for (const ProblemExample &example : {kProblemExamples[1], kProblemExamples[2]}) {
        const NormProblem problem = parse_problem(example.text);
        const nf_kernel kernel = recording_kernel(problem);
        nf_arguments arguments = example_arguments(problem, shape.rows, shape.groups);
        arguments.x.row_stride = shape.x_row;
        arguments.x.group_stride = shape.x_group;
        arguments.y.row_stride = shape.y_row;
        arguments.y.group_stride = shape.y_group;
        entry_calls.clear();
        ASSERT_EQ(nf_run(&kernel, &arguments), NF_SUCCESS) << nf_operand_at_fault(&kernel, &arguments);
        EXPECT_EQ(entry_calls.size(), shape.calls);

        std::vector<std::map<std::string, uintptr_t>> asked;
        for (EntryCall &call : entry_calls) {
            nf_arguments &part = call.arguments;
            ASSERT_GE(part.rows, 1);
            for (const Operand &operand : kOperands) {
                if (operand.shape == OperandShape::rows && operand_type(problem, operand) != NF_NONE) {
                    const int64_t stride = load_field<RowsField>(part, operand).row_stride;
                    EXPECT_LT(stride, kTooLong);
                    EXPECT_LT((part.rows - 1) * stride + kHidden, kTooLong);
                }
            }
            EXPECT_EQ(part.epsilon, arguments.epsilon);
            EXPECT_EQ(std::bit_cast<uint32_t>(part.scale), std::bit_cast<uint32_t>(arguments.scale));
            part.groups = 1;  // it is not looked at
            const auto rows = places_of_rows(problem, part);
            asked.insert(asked.end(), rows.begin(), rows.end());
        }
        EXPECT_EQ(asked, places_of_rows(problem, arguments));
    }
}

INSTANTIATE_TEST_SUITE_P(
    All, RunInParts,
    testing::Values(Shape{"one_group", 1000, 1, 16, 0, 16, 0, 1}, Shape{"no_groups", 3, 0, 16, 0, 16, 0, 1},
                    Shape{"groups", 3, 4, 16, 48, 20, 80, 4}, Shape{"groups_in_rows", 3, 4, 64, 16, 64, 16, 4},
                    Shape{"groups_of_one_row", 1, 4, 7, 16, -1, 32, 4},
                    Shape{"the_same_rows", 3, 4, 0, 0, 16, 48, 4},
                    Shape{"one_row_with_a_stride", 1, 1, kTooLong, 0, 16, 0, 1},
                    Shape{"one_row_with_bad_strides", 1, 1, INT64_MIN, INT64_MAX, -1, INT64_MIN, 1},
                    Shape{"longest_at_once", 3, 1, (kTooLong - 1) / 3, 0, 16, 0, 1},
                    Shape{"too_long_at_once", 3, 1, (kTooLong - 1) / 3 + 1, 0, 16, 0, 2},
                    Shape{"three_of_seven", 7, 1, 1 << 29, 0, 16, 0, 3},
                    Shape{"three_of_seven_of_y", 7, 1, 16, 0, 1 << 29, 0, 3},
                    Shape{"one_of_three", 3, 1, 1 << 30, 0, 1 << 30, 0, 3},
                    Shape{"stride_too_long", 3, 1, kTooLong + 16, 0, 16, 0, 3},
                    Shape{"stride_of_y_too_long", 3, 1, 16, 0, int64_t{1} << 40, 0, 3},
                    Shape{"two_groups_in_parts", 7, 2, 1 << 29, int64_t{1} << 33, 16, 112, 6},
                    Shape{"groups_far_apart", 3, 2, 16, int64_t{1} << 40, 16, 48, 2},
                    Shape{"groups_in_long_rows", 3, 2, kTooLong, 16, kTooLong, 16, 6}),
    [](const auto &test) { return std::string(test.param.name); });

TEST_F(Run, ManyRowsOfShortStrideAreCutToo) {
    nf_arguments arguments = example_arguments(kernel_.problem, 1 << 27);
    ASSERT_EQ(nf_run(&kernel_, &arguments), NF_SUCCESS);
    ASSERT_EQ(entry_calls.size(), 2u);
    EXPECT_EQ(entry_calls[0].arguments.rows, (1 << 27) - 1);
    EXPECT_EQ(entry_calls[1].arguments.rows, 1);
}

TEST_F(Run, AllRowsTogetherChooseTheVariant) {
    struct {
        int64_t rows, groups;
        const char *entry;
    } const cases[] = {{1, 1, "few_rows"},     {63, 1, "few_rows"}, {64, 1, "many_rows"},
                       {1000, 0, "many_rows"}, {9, 7, "few_rows"},  {8, 8, "many_rows"},
                       {1, 64, "many_rows"},   {1, 63, "few_rows"}, {65537, 1, "many_rows"}};
    for (const auto &one : cases) {
        entry_calls.clear();
        const nf_arguments arguments = example_arguments(kernel_.problem, one.rows, one.groups);
        ASSERT_EQ(nf_run(&kernel_, &arguments), NF_SUCCESS);
        for (const EntryCall &call : entry_calls) {
            EXPECT_EQ(call.entry, one.entry) << one.rows << " rows of " << one.groups << " groups";
        }
    }
    entry_calls.clear();
    nf_arguments arguments = example_arguments(kernel_.problem, 64);
    arguments.y.row_stride = int64_t{1} << 29;
    ASSERT_EQ(nf_run(&kernel_, &arguments), NF_SUCCESS);
    EXPECT_EQ(entry_calls.back().arguments.rows, 1);
    EXPECT_EQ(entry_calls.back().entry, "many_rows");
}

TEST_F(Run, DescribesTheVariantThatRuns) {
    nf_description description;
    ASSERT_EQ(nf_describe(&kernel_, 63, &description), NF_SUCCESS);
    EXPECT_STREQ(description.symbol, "few_rows");
    ASSERT_EQ(nf_describe(&kernel_, 64, &description), NF_SUCCESS);
    EXPECT_STREQ(description.symbol, "many_rows");
}

// More rows than a 16-bit count holds, of a kernel that writes for each row its first value of x.
TEST(RunRows, MoreThan16BitsCount) {
    constexpr int64_t kRows = 65537;
    const NormProblem problem = parse_problem("op=rms_norm,dtype=f32,weight=none,hidden=1");
    const nf_variant variant{[](const nf_arguments *arguments) {
                                 for (int64_t row = 0; row < arguments->rows; row++) {
                                     const auto *x = static_cast<const float *>(arguments->x.data);
                                     auto *y = static_cast<float *>(arguments->y.data);
                                     y[row * arguments->y.row_stride] = x[row * arguments->x.row_stride];
                                 }
                             },
                             0, "copy", "", ""};
    const nf_kernel kernel{problem, 0, "any", 1, &variant};
    std::vector<float> x(kRows);
    for (int64_t row = 0; row < kRows; row++) {
        x[row] = static_cast<float>(row);
    }
    for (const int64_t groups : {int64_t{1}, kRows}) {
        std::vector<float> y(kRows);
        nf_arguments arguments{};
        arguments.rows = kRows / groups;
        arguments.groups = groups;
        arguments.x = {x.data(), 1, 1};
        arguments.y = {y.data(), 1, 1};
        ASSERT_EQ(nf_run(&kernel, &arguments), NF_SUCCESS);
        EXPECT_EQ(y, x);
    }
}

}  // namespace
}  // namespace normforge
