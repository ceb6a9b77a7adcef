#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>

#include "tests/argument_examples.h"

namespace normforge {
namespace {

constexpr int64_t kRows = 3;
constexpr int64_t kGroups = 2;

void set_data(nf_arguments &arguments, const Operand &operand, const void *data) {
    store_field(arguments, operand, data);
}

void set_strides(nf_arguments &arguments, const Operand &operand, int64_t row_stride, int64_t group_stride) {
    const auto field = load_field<RowsField>(arguments, operand);
    store_field(arguments, operand, RowsField{field.data, row_stride, group_stride});
}

// One wrong thing at a time, of every operand of every example.
class Arguments : public testing::TestWithParam<ProblemExample> {
protected:
    const NormProblem problem_ = parse_problem(GetParam().text);
    const nf_kernel kernel_ = recording_kernel(problem_);

    void SetUp() override { entry_calls.clear(); }
    void TearDown() override { EXPECT_TRUE(entry_calls.empty()); }

    void expect_refusal(const nf_arguments &arguments, nf_status status, const char *field) const {
        EXPECT_EQ(nf_run(&kernel_, &arguments), status) << field;
        EXPECT_STREQ(nf_operand_at_fault(&kernel_, &arguments), field);
    }

    void expect_no_fault(const nf_arguments &arguments) const {
        EXPECT_EQ(nf_operand_at_fault(&kernel_, &arguments), nullptr);
    }

    template <typename Visitor>
    void visit_present(Visitor &&visit) const {
        for (const Operand &operand : kOperands) {
            const nf_dtype type = operand_type(problem_, operand);
            if (type != NF_NONE && operand.shape != OperandShape::number) {
                visit(operand, static_cast<int64_t>(element_size(type)));
            }
        }
    }

    template <typename Visitor>
    void visit_rows(Visitor &&visit) const {
        visit_present([&](const Operand &operand, int64_t) {
            if (operand.shape == OperandShape::rows) {
                visit(operand, is_written(problem_, operand));
            }
        });
    }
};

// The fields of absent operands hold what would be refused, so this also tells that they are not looked at.
TEST_P(Arguments, OfTheExamplesAreLegal) {
    expect_no_fault(example_arguments(problem_, kRows));
    expect_no_fault(example_arguments(problem_, kRows, kGroups));
    expect_no_fault(example_arguments(problem_, 1, 0));
}

TEST_P(Arguments, NullIsRefused) {
    visit_present([&](const Operand &operand, int64_t) {
        nf_arguments arguments = example_arguments(problem_, kRows);
        set_data(arguments, operand, nullptr);
        expect_refusal(arguments, NF_ERROR_NULL_OPERAND, operand.name);
    });
}

TEST_P(Arguments, AlignmentIsThatOfAValue) {
    visit_present([&](const Operand &operand, int64_t value_bytes) {
        nf_arguments arguments = example_arguments(problem_, kRows);
        const char *data = load_field<const char *>(arguments, operand);
        for (int64_t offset = 1; offset < value_bytes; offset++) {
            set_data(arguments, operand, data + offset);
            expect_refusal(arguments, NF_ERROR_MISALIGNED, operand.name);
        }
        set_data(arguments, operand, data + value_bytes);
        expect_no_fault(arguments);
    });
}

TEST_P(Arguments, StridesOfInputsMayBeShort) {
    visit_rows([&](const Operand &operand, bool written) {
        nf_arguments arguments = example_arguments(problem_, kRows, kGroups);
        for (const auto &[row_stride, group_stride] : {std::pair{0, 0}, {0, 16}, {16, 0}, {1, 2}, {15, 48}}) {
            set_strides(arguments, operand, row_stride, group_stride);
            if (written) {
                expect_refusal(arguments, NF_ERROR_BAD_STRIDE, operand.name);
            } else {
                expect_no_fault(arguments);
            }
        }
        for (const auto &[row_stride, group_stride] : {std::pair{-1, 48}, {16, -1}, {-16, -48}}) {
            set_strides(arguments, operand, row_stride, group_stride);
            expect_refusal(arguments, NF_ERROR_BAD_STRIDE, operand.name);
        }
    });
}

// Three rows of two groups, hidden 16.
TEST_P(Arguments, WrittenRowsAreApart) {
    visit_rows([&](const Operand &operand, bool written) {
        nf_arguments arguments = example_arguments(problem_, kRows, kGroups);
        for (const auto &[row_stride, group_stride] :
             {std::pair{16, 48}, {16, 49}, {20, 56}, {32, 16}, {33, 17}}) {
            set_strides(arguments, operand, row_stride, group_stride);
            expect_no_fault(arguments);
        }
        for (const auto &[row_stride, group_stride] :
             {std::pair{16, 47}, {20, 55}, {31, 16}, {32, 17}, {32, 15}}) {
            set_strides(arguments, operand, row_stride, group_stride);
            if (written) {
                expect_refusal(arguments, NF_ERROR_BAD_STRIDE, operand.name);
            } else {
                expect_no_fault(arguments);
            }
        }
    });
}

TEST_P(Arguments, StridesThatLeadNowhereAreNotLookedAt) {
    visit_rows([&](const Operand &operand, bool) {
        for (const int64_t stride : {INT64_MIN, int64_t{-1}, int64_t{0}, INT64_MAX}) {
            nf_arguments one_row = example_arguments(problem_, 1, kGroups);
            set_strides(one_row, operand, stride, 16);
            expect_no_fault(one_row);

            nf_arguments one_group = example_arguments(problem_, kRows, 1);
            set_strides(one_group, operand, 16, stride);
            expect_no_fault(one_group);
        }
    });
}

TEST_P(Arguments, RowsEndBeforeTheAddressesDo) {
    visit_rows([&](const Operand &operand, bool) {
        nf_arguments arguments = example_arguments(problem_, kRows, kGroups);
        set_strides(arguments, operand, INT64_MAX, 48);
        expect_refusal(arguments, NF_ERROR_TOO_LARGE, operand.name);
        set_strides(arguments, operand, 16, INT64_MAX);
        expect_refusal(arguments, NF_ERROR_TOO_LARGE, operand.name);
    });
    visit_present([&](const Operand &operand, int64_t value_bytes) {
        nf_arguments arguments = example_arguments(problem_, kRows);
        set_data(arguments, operand, at(UINTPTR_MAX - value_bytes + 1));
        expect_refusal(arguments, NF_ERROR_TOO_LARGE, operand.name);
    });
    expect_refusal(example_arguments(problem_, INT64_MAX), NF_ERROR_TOO_LARGE,
                   operand_type(problem_, operand(OperandId::x)) == NF_NONE ? "dy" : "x");
}

TEST_P(Arguments, EpsilonIsFiniteAndNotNegative) {
    nf_arguments arguments = example_arguments(problem_, kRows);
    for (const float epsilon : {-FLT_TRUE_MIN, -1.0f, INFINITY, -INFINITY, NAN}) {
        arguments.epsilon = epsilon;
        if (problem_.pass == NF_FORWARD) {
            expect_refusal(arguments, NF_ERROR_BAD_EPSILON, "epsilon");
        } else {
            expect_no_fault(arguments);
        }
    }
    for (const float epsilon : {0.0f, -0.0f, FLT_TRUE_MIN, FLT_MAX}) {
        arguments.epsilon = epsilon;
        expect_no_fault(arguments);
    }
}

TEST_P(Arguments, StaticScaleIsNormalAndPositive) {
    nf_arguments arguments = example_arguments(problem_, kRows);
    for (const float scale : {0.0f, -0.0f, -1.0f, FLT_TRUE_MIN, INFINITY, NAN}) {
        arguments.scale = scale;
        if (problem_.scale == NF_SCALE_STATIC) {
            expect_refusal(arguments, NF_ERROR_BAD_SCALE, "scale");
        } else {
            expect_no_fault(arguments);
        }
    }
    for (const float scale : {FLT_MIN, 1.0f, FLT_MAX}) {
        arguments.scale = scale;
        expect_no_fault(arguments);
    }
}

TEST_P(Arguments, NegativeCountsAreRefused) {
    expect_refusal(example_arguments(problem_, -1), NF_ERROR_NEGATIVE_ROWS, "rows");
    expect_refusal(example_arguments(problem_, 0, -1), NF_ERROR_NEGATIVE_ROWS, "groups");
    expect_refusal(example_arguments(problem_, INT64_MIN, INT64_MIN), NF_ERROR_NEGATIVE_ROWS, "rows");
}

TEST_P(Arguments, WorkspaceIsCheckedWhereOneIsNeeded) {
    const bool needed = nf_workspace_bytes(&kernel_, kRows, kGroups) > 0;
    EXPECT_EQ(needed, problem_.pass == NF_BACKWARD);
    const auto expect_status = [&](const void *workspace, nf_status status) {
        nf_arguments arguments = example_arguments(problem_, kRows, kGroups);
        arguments.workspace = const_cast<void *>(workspace);
        if (needed) {
            expect_refusal(arguments, status, "workspace");
        } else {
            expect_no_fault(arguments);
        }
    };
    expect_status(nullptr, NF_ERROR_NULL_OPERAND);
    expect_status(at(0x1002), NF_ERROR_MISALIGNED);
    expect_status(at(UINTPTR_MAX - 3), NF_ERROR_TOO_LARGE);
}

// Only the gradients that are set all the same are looked at.
TEST_P(Arguments, OfNoRowsNeedNotBeLegal) {
    nf_arguments arguments;
    std::memset(&arguments, 0xff, sizeof arguments);
    arguments.rows = 0;
    arguments.groups = 0;
    arguments.dweight = at(0x1000);
    arguments.dbias = at(0x2000);
    expect_no_fault(arguments);
    if (problem_.pass == NF_BACKWARD) {
        arguments.dbias = at(0x1010);
        expect_refusal(arguments, NF_ERROR_OVERLAP, "dbias");
        arguments.dbias = nullptr;
        expect_refusal(arguments, NF_ERROR_NULL_OPERAND, "dbias");
        arguments.dweight = at(0x1001);
        expect_refusal(arguments, NF_ERROR_MISALIGNED, "dweight");
    }
}

INSTANTIATE_TEST_SUITE_P(All, Arguments, testing::ValuesIn(kProblemExamples),
                         [](const auto &test) { return std::string(test.param.name); });

TEST(NullArguments, AreRefused) {
    const NormProblem problem = default_problem(NF_LAYER_NORM, 16);
    const nf_kernel kernel = recording_kernel(problem);
    const nf_arguments arguments = example_arguments(problem, 1);
    EXPECT_EQ(nf_run(nullptr, &arguments), NF_ERROR_NULL_ARGUMENT);
    EXPECT_EQ(nf_run(&kernel, nullptr), NF_ERROR_NULL_ARGUMENT);
    EXPECT_EQ(nf_operand_at_fault(nullptr, &arguments), nullptr);
    EXPECT_EQ(nf_operand_at_fault(&kernel, nullptr), nullptr);
    EXPECT_EQ(nf_workspace_bytes(nullptr, 1, 1), 0);
}

// Here all rows that are read are one, so that only their number is too large, for the first operand that counts
// it.
TEST(RowValues, AreCounted) {
    const NormProblem problem = parse_problem(kProblemExamples[3].text);
    ASSERT_EQ(problem.pass, NF_BACKWARD);
    const nf_kernel kernel = recording_kernel(problem);
    nf_arguments arguments = example_arguments(problem, INT64_MAX / 2, 4);
    for (nf_input *input : {&arguments.x, &arguments.residual, &arguments.dy}) {
        input->row_stride = 0;
        input->group_stride = 0;
    }
    EXPECT_EQ(nf_run(&kernel, &arguments), NF_ERROR_TOO_LARGE);
    EXPECT_STREQ(nf_operand_at_fault(&kernel, &arguments), "mean");
}

}  // namespace
}  // namespace normforge
