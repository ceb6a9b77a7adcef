#include <gtest/gtest.h>

#include <algorithm>

#include "tests/argument_examples.h"

namespace normforge {
namespace {

constexpr int64_t kHidden = 16;

std::vector<const Operand *> operands_in_memory(const NormProblem &problem) {
    std::vector<const Operand *> operands;
    for (const Operand &operand : kOperands) {
        if (operand_type(problem, operand) != NF_NONE && operand.shape != OperandShape::number) {
            operands.push_back(&operand);
        }
    }
    return operands;
}

class Overlap : public testing::TestWithParam<ProblemExample> {};

// Rows that are read and rows that are written of the same size are the only pair that may be one, as two that are
// only read may be anyhow.
TEST_P(Overlap, OfEveryPairIsSharedExactlyOrRefused) {
    const NormProblem problem = parse_problem(GetParam().text);
    const nf_kernel kernel = recording_kernel(problem);
    const std::vector<const Operand *> operands = operands_in_memory(problem);
    for (size_t second = 0; second < operands.size(); second++) {
        for (size_t first = 0; first < second; first++) {
            const Operand &a = *operands[first];
            const Operand &b = *operands[second];
            const bool a_written = is_written(problem, a);
            const bool b_written = is_written(problem, b);
            const bool exact = a.shape == OperandShape::rows && b.shape == OperandShape::rows &&
                               element_size(operand_type(problem, a)) == element_size(operand_type(problem, b));
            const bool allowed = (!a_written && !b_written) || (exact && a_written != b_written);
            const char *at_fault = b_written ? b.name : a.name;

            nf_arguments arguments = example_arguments(problem, 3, 2);
            store_field(arguments, a, load_field<void *>(arguments, b));
            EXPECT_STREQ(nf_operand_at_fault(&kernel, &arguments), allowed ? nullptr : at_fault)
                << a.name << " at " << b.name;
        }
    }
}

TEST_P(Overlap, WorkspaceIsApartFromAll) {
    const NormProblem problem = parse_problem(GetParam().text);
    const nf_kernel kernel = recording_kernel(problem);
    const bool needed = nf_workspace_bytes(&kernel, 3, 1) > 0;
    for (const Operand *operand : operands_in_memory(problem)) {
        nf_arguments arguments = example_arguments(problem, 3);
        arguments.workspace = load_field<void *>(arguments, *operand);
        EXPECT_STREQ(nf_operand_at_fault(&kernel, &arguments), needed ? "workspace" : nullptr) << operand->name;
    }
}

INSTANTIATE_TEST_SUITE_P(All, Overlap, testing::ValuesIn(kProblemExamples),
                         [](const auto &test) { return std::string(test.param.name); });

// Where rows of y lie, in values from x or, where of_weight, from weight.
struct Placement {
    const char *name;
    nf_status status;
    int64_t y_offset;
    int64_t x_stride;
    int64_t y_stride;
    int64_t rows = 3;
    bool of_weight = false;
};

void PrintTo(const Placement &placement, std::ostream *stream) {
    *stream << placement.name;
}

class OneGroup : public testing::TestWithParam<Placement> {};

TEST_P(OneGroup, IsApartOrExactlyInPlace) {
    const Placement &placement = GetParam();
    const NormProblem problem = default_problem(NF_LAYER_NORM, kHidden);
    const nf_kernel kernel = recording_kernel(problem);
    nf_arguments arguments = example_arguments(problem, placement.rows);
    const void *origin = placement.of_weight ? arguments.weight : arguments.x.data;
    arguments.y.data = at(address_of(origin) + placement.y_offset * sizeof(float));
    arguments.x.row_stride = placement.x_stride;
    arguments.y.row_stride = placement.y_stride;
    entry_calls.clear();
    EXPECT_EQ(nf_run(&kernel, &arguments), placement.status);
    EXPECT_EQ(entry_calls.size(), placement.status == NF_SUCCESS ? 1u : 0u);
}

INSTANTIATE_TEST_SUITE_P(
    All, OneGroup,
    testing::Values(
        Placement{"in_place", NF_SUCCESS, 0, kHidden, kHidden},
        Placement{"in_place_gaps", NF_SUCCESS, 0, kHidden + 5, kHidden + 5},
        Placement{"in_place_one_row", NF_SUCCESS, 0, kHidden, 2 * kHidden, 1},
        Placement{"in_place_other_stride", NF_ERROR_OVERLAP, 0, kHidden, kHidden + 1},
        Placement{"in_place_of_one_repeated_row", NF_ERROR_OVERLAP, 0, 0, kHidden},
        Placement{"shifted_by_one", NF_ERROR_OVERLAP, 1, kHidden, kHidden},
        Placement{"shifted_back_by_one", NF_ERROR_OVERLAP, -1, kHidden, kHidden},
        Placement{"shifted_one_row", NF_ERROR_OVERLAP, -1, kHidden, kHidden, 1},
        Placement{"shifted_by_a_row", NF_ERROR_OVERLAP, kHidden, kHidden, kHidden},
        Placement{"adjacent", NF_SUCCESS, 3 * kHidden, kHidden, kHidden},
        Placement{"adjacent_below", NF_SUCCESS, -3 * kHidden, kHidden, kHidden},
        Placement{"adjacent_less_one", NF_ERROR_OVERLAP, 3 * kHidden - 1, kHidden, kHidden},
        Placement{"adjacent_to_one_repeated_row", NF_SUCCESS, kHidden, 0, kHidden},
        Placement{"interleaved", NF_SUCCESS, kHidden, 2 * kHidden, 2 * kHidden},
        Placement{"interleaved_below", NF_SUCCESS, -kHidden, 2 * kHidden, 2 * kHidden},
        Placement{"interleaved_from_second_row", NF_SUCCESS, 3 * kHidden, 2 * kHidden, 2 * kHidden},
        Placement{"interleaved_early", NF_ERROR_OVERLAP, kHidden - 1, 2 * kHidden, 2 * kHidden},
        Placement{"interleaved_late", NF_ERROR_OVERLAP, kHidden + 1, 2 * kHidden, 2 * kHidden},
        Placement{"behind_last_row_in_stride", NF_SUCCESS, 5 * kHidden, 2 * kHidden, 2 * kHidden},
        Placement{"other_stride_apart", NF_SUCCESS, 3 * kHidden, kHidden, 2 * kHidden},
        Placement{"other_stride_in_gaps", NF_ERROR_OVERLAP, kHidden, 2 * kHidden, 4 * kHidden, 2},
        Placement{"weight_in_a_row", NF_ERROR_OVERLAP, 0, kHidden, kHidden, 3, true},
        Placement{"weight_in_the_last_row", NF_ERROR_OVERLAP, -3 * kHidden + 1, kHidden, kHidden, 3, true},
        Placement{"weight_in_a_gap", NF_SUCCESS, -3 * kHidden, kHidden, 2 * kHidden, 3, true},
        Placement{"weight_across_a_gap", NF_ERROR_OVERLAP, -3 * kHidden - 1, kHidden, 2 * kHidden, 3, true},
        Placement{"weight_below", NF_SUCCESS, kHidden, kHidden, kHidden, 3, true}),
    [](const auto &test) { return std::string(test.param.name); });

// Rows of different sizes interleave where their strides are equal in bytes.
TEST(OverlapOfTypes, CountsInBytes) {
    const NormProblem problem = parse_problem("op=rms_norm,dtype=f32,output=i8,scale=static,hidden=16");
    const nf_kernel kernel = recording_kernel(problem);
    const auto expect_fault = [&](int64_t y_stride, int64_t offset, const char *field) {
        nf_arguments arguments = example_arguments(problem, 3);
        arguments.x.row_stride = 20;  // 80 bytes, of which a row has 64
        arguments.y.row_stride = y_stride;
        arguments.y.data = at(address_of(arguments.x.data) + offset);
        EXPECT_STREQ(nf_operand_at_fault(&kernel, &arguments), field) << y_stride << ", " << offset;
    };
    expect_fault(80, 64, nullptr);
    expect_fault(80, -16, nullptr);
    expect_fault(80, 63, "y");
    expect_fault(80, 65, "y");
    expect_fault(80, 0, "y");
    expect_fault(20, 64, "y");
    expect_fault(104, 0, "y");  // ends where x does
}

// As many rows as a row has values, so that they lie exactly where a vector is read.
TEST(OverlapOfRowValues, IsNeverInPlace) {
    const NormProblem problem = parse_problem("op=rms_norm,dtype=f32,saved_statistics=yes,hidden=16");
    const nf_kernel kernel = recording_kernel(problem);
    nf_arguments arguments = example_arguments(problem, 16);
    arguments.rstd = static_cast<float *>(at(address_of(arguments.weight)));
    EXPECT_STREQ(nf_operand_at_fault(&kernel, &arguments), "rstd");
}

// The heads of the tokens in one buffer of queries, keys and values: three heads of 16 values each of every token.
struct Heads {
    const char *name;
    bool heads_are_rows;  // else tokens are
    int64_t y_offset;     // in values from the first query
    nf_status status;
};

void PrintTo(const Heads &heads, std::ostream *stream) {
    *stream << heads.name;
}

class HeadsOfTokens : public testing::TestWithParam<Heads> {};

TEST_P(HeadsOfTokens, AreApartWithinTheRows) {
    constexpr int64_t kHeads = 3;
    constexpr int64_t kTokens = 5;
    constexpr int64_t kTokenStride = 3 * kHeads * kHidden;
    const NormProblem problem = default_problem(NF_RMS_NORM, kHidden);
    const nf_kernel kernel = recording_kernel(problem);
    const bool heads_are_rows = GetParam().heads_are_rows;
    nf_arguments arguments =
        heads_are_rows ? example_arguments(problem, kHeads, kTokens) : example_arguments(problem, kTokens, kHeads);
    const void *queries = arguments.x.data;
    arguments.x.row_stride = arguments.y.row_stride = heads_are_rows ? kHidden : kTokenStride;
    arguments.x.group_stride = arguments.y.group_stride = heads_are_rows ? kTokenStride : kHidden;
    arguments.y.data = at(address_of(queries) + GetParam().y_offset * sizeof(float));
    EXPECT_EQ(nf_run(&kernel, &arguments), GetParam().status);
}

std::vector<Heads> placements_of_heads() {
    std::vector<Heads> placements;
    for (const bool heads_are_rows : {true, false}) {
        const Heads either_way[] = {
            {"in_place", heads_are_rows, 0, NF_SUCCESS},
            {"keys", heads_are_rows, 48, NF_SUCCESS},
            {"values", heads_are_rows, 96, NF_SUCCESS},
            {"values_of_the_token_before", heads_are_rows, -48, NF_SUCCESS},
            {"keys_two_tokens_later", heads_are_rows, 48 + 2 * 144, NF_SUCCESS},
            {"keys_and_a_value_of_a_query", heads_are_rows, 47, NF_ERROR_OVERLAP},
            {"keys_and_a_value_of_the_next_query", heads_are_rows, 97, NF_ERROR_OVERLAP},
            {"next_head", heads_are_rows, 16, NF_ERROR_OVERLAP},
            {"next_token", heads_are_rows, 144, NF_ERROR_OVERLAP},
            {"behind_all", heads_are_rows, 4 * 144 + 48, NF_SUCCESS},
            {"last_head_of_all", heads_are_rows, 4 * 144 + 32, NF_ERROR_OVERLAP},
        };
        placements.insert(placements.end(), std::begin(either_way), std::end(either_way));
    }
    return placements;
}

INSTANTIATE_TEST_SUITE_P(All, HeadsOfTokens, testing::ValuesIn(placements_of_heads()), [](const auto &test) {
    return std::string(test.param.name) + (test.param.heads_are_rows ? "_by_token" : "_by_head");
});

}  // namespace
}  // namespace normforge
