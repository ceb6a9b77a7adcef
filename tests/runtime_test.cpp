#include <cfloat>
#include <cmath>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <vector>

#include "runtime/kernel_table.h"
#include "runtime/norm_problem.h"

namespace normforge {
namespace {

constexpr int64_t kHidden = 16;

// What the entries below were asked. They touch no memory, so the pointers of a test need not be real.
struct EntryCall {
    std::string entry;
    nf_arguments arguments;
};
std::vector<EntryCall> calls;

void few_rows(const nf_arguments *arguments) {
    calls.push_back({"few_rows", *arguments});
}
void many_rows(const nf_arguments *arguments) {
    calls.push_back({"many_rows", *arguments});
}

const nf_variant kVariants[] = {{few_rows, 0, "few_rows", "vector=8", "heuristic"},
                                {many_rows, 64, "many_rows", "vector=16", "tuned: by hand"}};

nf_kernel make_kernel(const NormProblem &problem) {
    return {problem, 0, "any", std::size(kVariants), kVariants};
}

const nf_kernel kLayerNorm = make_kernel(default_problem(NF_LAYER_NORM, kHidden));

void *at(uintptr_t address) {
    return reinterpret_cast<void *>(address);
}

// Legal arguments of kLayerNorm.
nf_arguments some_arguments(int64_t rows) {
    return {.rows = rows,
            .x = at(0x1000'0000),
            .x_row_stride = kHidden,
            .y = at(0x2000'0000),
            .y_row_stride = kHidden,
            .weight = at(0x3000'0000),
            .bias = at(0x3000'1000),
            .epsilon = 1e-5f};
}

class Run : public testing::Test {
protected:
    void SetUp() override { calls.clear(); }
};

struct BadCall {
    nf_status status;
    void (*spoil)(nf_arguments &);
};

class RunRefuses : public Run, public testing::WithParamInterface<BadCall> {};

TEST_P(RunRefuses, BeforeAnythingRuns) {
    nf_arguments arguments = some_arguments(3);
    GetParam().spoil(arguments);
    EXPECT_EQ(nf_run(&kLayerNorm, &arguments), GetParam().status);
    EXPECT_TRUE(calls.empty());
}

INSTANTIATE_TEST_SUITE_P(
    All, RunRefuses,
    testing::Values(BadCall{NF_ERROR_NEGATIVE_ROWS, [](nf_arguments &a) { a.rows = -1; }},
                    BadCall{NF_ERROR_NULL_X, [](nf_arguments &a) { a.x = nullptr; }},
                    BadCall{NF_ERROR_NULL_Y, [](nf_arguments &a) { a.y = nullptr; }},
                    BadCall{NF_ERROR_NULL_WEIGHT, [](nf_arguments &a) { a.weight = nullptr; }},
                    BadCall{NF_ERROR_NULL_BIAS, [](nf_arguments &a) { a.bias = nullptr; }},
                    BadCall{NF_ERROR_SHORT_X_STRIDE, [](nf_arguments &a) { a.x_row_stride = kHidden - 1; }},
                    BadCall{NF_ERROR_SHORT_Y_STRIDE, [](nf_arguments &a) { a.y_row_stride = 0; }},
                    BadCall{NF_ERROR_SHORT_X_STRIDE,
                            [](nf_arguments &a) { a.rows = 1, a.x_row_stride = -kHidden; }},
                    BadCall{NF_ERROR_BAD_EPSILON, [](nf_arguments &a) { a.epsilon = -FLT_MIN; }},
                    BadCall{NF_ERROR_BAD_EPSILON, [](nf_arguments &a) { a.epsilon = INFINITY; }},
                    BadCall{NF_ERROR_BAD_EPSILON, [](nf_arguments &a) { a.epsilon = NAN; }},
                    BadCall{NF_ERROR_TOO_LARGE, [](nf_arguments &a) { a.x_row_stride = INT64_MAX; }},
                    BadCall{NF_ERROR_TOO_LARGE, [](nf_arguments &a) { a.y_row_stride = INT64_MAX / 8; }},
                    BadCall{NF_ERROR_TOO_LARGE, [](nf_arguments &a) { a.rows = INT64_MAX; }},
                    BadCall{NF_ERROR_TOO_LARGE, [](nf_arguments &a) { a.x = at(UINTPTR_MAX - 16); }},
                    BadCall{NF_ERROR_TOO_LARGE, [](nf_arguments &a) { a.bias = at(UINTPTR_MAX - 16); }}),
    [](const auto &test) { return "case_" + std::to_string(test.index); });

TEST_F(Run, RefusesNullKernelAndArguments) {
    const nf_arguments arguments = some_arguments(1);
    EXPECT_EQ(nf_run(nullptr, &arguments), NF_ERROR_NULL_ARGUMENT);
    EXPECT_EQ(nf_run(&kLayerNorm, nullptr), NF_ERROR_NULL_ARGUMENT);
    EXPECT_TRUE(calls.empty());
}

TEST_F(Run, ZeroRowsTouchNothing) {
    const nf_arguments arguments{};
    EXPECT_EQ(nf_run(&kLayerNorm, &arguments), NF_SUCCESS);
    EXPECT_TRUE(calls.empty());
}

TEST_F(Run, OperandsThatTheProblemLacksMayBeNull) {
    NormProblem problem = default_problem(NF_RMS_NORM, kHidden);
    problem.weight = NF_NONE;
    const nf_kernel kernel = make_kernel(problem);
    nf_arguments arguments = some_arguments(3);
    arguments.weight = nullptr;
    arguments.bias = nullptr;
    arguments.epsilon = 0;
    EXPECT_EQ(nf_run(&kernel, &arguments), NF_SUCCESS);
    EXPECT_EQ(calls.size(), 1u);
}

// Where y may lie, in values from x or, where of_weight, from weight.
struct Placement {
    const char *name;
    nf_status status;
    int64_t y_offset;
    int64_t x_stride;
    int64_t y_stride;
    int64_t rows = 3;
    bool of_weight = false;
};

class RunPlaces : public Run, public testing::WithParamInterface<Placement> {};

TEST_P(RunPlaces, RowsApartOrExactlyInPlace) {
    const Placement &placement = GetParam();
    nf_arguments arguments = some_arguments(placement.rows);
    const void *origin = placement.of_weight ? arguments.weight : arguments.x;
    arguments.y = at(reinterpret_cast<uintptr_t>(origin) + placement.y_offset * sizeof(float));
    arguments.x_row_stride = placement.x_stride;
    arguments.y_row_stride = placement.y_stride;
    EXPECT_EQ(nf_run(&kLayerNorm, &arguments), placement.status);
    EXPECT_EQ(calls.size(), placement.status == NF_SUCCESS ? 1u : 0u);
}

INSTANTIATE_TEST_SUITE_P(
    All, RunPlaces,
    testing::Values(
        Placement{"in_place", NF_SUCCESS, 0, kHidden, kHidden},
        Placement{"in_place_gaps", NF_SUCCESS, 0, kHidden + 5, kHidden + 5},
        Placement{"in_place_one_row", NF_SUCCESS, 0, kHidden, 2 * kHidden, 1},
        Placement{"in_place_other_stride", NF_ERROR_OVERLAP, 0, kHidden, kHidden + 1},
        Placement{"shifted_by_one", NF_ERROR_OVERLAP, 1, kHidden, kHidden},
        Placement{"shifted_back_by_one", NF_ERROR_OVERLAP, -1, kHidden, kHidden},
        Placement{"shifted_one_row", NF_ERROR_OVERLAP, -1, kHidden, kHidden, 1},
        Placement{"shifted_by_a_row", NF_ERROR_OVERLAP, kHidden, kHidden, kHidden},
        Placement{"adjacent", NF_SUCCESS, 3 * kHidden, kHidden, kHidden},
        Placement{"adjacent_below", NF_SUCCESS, -3 * kHidden, kHidden, kHidden},
        Placement{"adjacent_less_one", NF_ERROR_OVERLAP, 3 * kHidden - 1, kHidden, kHidden},
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

TEST_F(Run, BiasMustNotOverlapY) {
    nf_arguments arguments = some_arguments(1);
    arguments.bias = arguments.y;
    EXPECT_EQ(nf_run(&kLayerNorm, &arguments), NF_ERROR_OVERLAP);
}

struct Strides {
    int64_t x;
    int64_t y;
    int64_t rows;
    size_t calls;
};

class RunInParts : public Run, public testing::WithParamInterface<Strides> {};

// Each row must be asked for once, in order, where the caller has it.
TEST_P(RunInParts, OffsetsFit31Bits) {
    const Strides &strides = GetParam();
    nf_arguments arguments = some_arguments(strides.rows);
    arguments.x_row_stride = strides.x;
    arguments.y_row_stride = strides.y;
    arguments.x = at(uintptr_t{1} << 40);
    arguments.y = at(uintptr_t{1} << 60);
    ASSERT_EQ(nf_run(&kLayerNorm, &arguments), NF_SUCCESS);
    ASSERT_EQ(calls.size(), strides.calls);
    int64_t row = 0;
    for (const EntryCall &call : calls) {
        const nf_arguments &part = call.arguments;
        EXPECT_EQ(part.x, static_cast<const char *>(arguments.x) + row * strides.x * 4);
        EXPECT_EQ(part.y, static_cast<char *>(arguments.y) + row * strides.y * 4);
        EXPECT_GE(part.rows, 1);
        EXPECT_LT((part.rows - 1) * part.x_row_stride + kHidden, int64_t{1} << 31);
        EXPECT_LT((part.rows - 1) * part.y_row_stride + kHidden, int64_t{1} << 31);
        EXPECT_LT(part.x_row_stride, int64_t{1} << 31);
        EXPECT_LT(part.y_row_stride, int64_t{1} << 31);
        if (part.rows > 1) {
            EXPECT_EQ(part.x_row_stride, strides.x);
            EXPECT_EQ(part.y_row_stride, strides.y);
        }
        EXPECT_EQ(part.weight, arguments.weight);
        EXPECT_EQ(part.bias, arguments.bias);
        EXPECT_EQ(part.epsilon, arguments.epsilon);
        row += part.rows;
    }
    EXPECT_EQ(row, strides.rows);
}

INSTANTIATE_TEST_SUITE_P(All, RunInParts,
                         testing::Values(Strides{16, 16, 1000, 1}, Strides{16, 16, (1 << 27) - 1, 1},
                                         Strides{16, 16, 1 << 27, 2}, Strides{1 << 29, 16, 7, 3},
                                         Strides{16, 1 << 29, 7, 3}, Strides{1 << 30, 1 << 30, 3, 3},
                                         Strides{(int64_t{1} << 31) + 16, 16, 3, 3},
                                         Strides{16, int64_t{1} << 40, 3, 3}, Strides{INT64_MAX, INT64_MAX, 1, 1}),
                         [](const auto &test) { return "case_" + std::to_string(test.index); });

TEST_F(Run, AllRowsTogetherChooseTheVariant) {
    struct {
        int64_t rows;
        const char *entry;
    } const cases[] = {{1, "few_rows"}, {63, "few_rows"}, {64, "many_rows"}, {1000, "many_rows"}};
    for (const auto &one : cases) {
        calls.clear();
        nf_arguments arguments = some_arguments(one.rows);
        ASSERT_EQ(nf_run(&kLayerNorm, &arguments), NF_SUCCESS);
        EXPECT_EQ(calls.at(0).entry, one.entry);

        nf_description description;
        ASSERT_EQ(nf_describe(&kLayerNorm, one.rows, &description), NF_SUCCESS);
        EXPECT_STREQ(description.symbol, one.entry);
    }
    calls.clear();
    nf_arguments arguments = some_arguments(64);
    arguments.y_row_stride = int64_t{1} << 29;
    ASSERT_EQ(nf_run(&kLayerNorm, &arguments), NF_SUCCESS);
    EXPECT_EQ(calls.back().arguments.rows, 1);
    EXPECT_EQ(calls.back().entry, "many_rows");
}

}  // namespace
}  // namespace normforge
