#include "autotune/measure/call_operands.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <tuple>

#include "autotune/measure/operand_layout.h"
#include "runtime/float_types.h"
#include "tests/ranged_call.h"

namespace normforge {
namespace {

const char *const kProblems[] = {
    "op=layer_norm,dtype=f32,saved_statistics=yes",
    "op=rms_norm,dtype=bf16,residual=f32,sum=f16,output=i8,scale=per_row",
    "op=rms_norm,dtype=f16,residual=bf16,sum=f16,output=f8e4m3,scale=static",
    "op=layer_norm,pass=backward,dtype=f16,weight=f32,residual=f16,saved_statistics=yes",
    "op=rms_norm,pass=backward,dtype=bf16,residual=f32,sum=bf16,saved_statistics=yes"};

class CallOperandsTest : public testing::TestWithParam<std::tuple<const char *, int64_t>> {
protected:
    const NormProblem problem_ = problem_with(std::get<0>(GetParam()), 37);
    const int64_t groups_ = std::get<1>(GetParam());
    const std::vector<TestRow> rows_ = [this] {
        std::vector<TestRow> rows = test_rows(problem_, 1);
        rows.resize(6);
        return rows;
    }();
    const OperandValues values_ = read_values(problem_, rows_, 0.25f, 3);
    const CallOperands operands_{problem_, 6 / groups_, groups_, values_};

    std::vector<const Operand *> of_shape(OperandShape shape, bool written) const {
        std::vector<const Operand *> found;
        for (const Operand &operand : kOperands) {
            if (operand_type(problem_, operand) != NF_NONE && operand.shape == shape &&
                is_written(problem_, operand) == written) {
                found.push_back(&operand);
            }
        }
        return found;
    }
};

TEST_P(CallOperandsTest, AreTakenByNfRun) {
    const SingleKernel kernel(problem_, [](const nf_arguments *) {});
    const nf_arguments in_place = operands_.in_place();
    EXPECT_EQ(nf_run(&kernel.kernel(), &operands_.arguments()), NF_SUCCESS)
        << nf_operand_at_fault(&kernel.kernel(), &operands_.arguments());
    EXPECT_EQ(nf_run(&kernel.kernel(), &in_place), NF_SUCCESS);
    EXPECT_EQ(operands_.arguments().rows * operands_.arguments().groups, 6);
    EXPECT_EQ(operands_.arguments().epsilon, problem_.pass == NF_FORWARD ? 0.25f : 0);
}

TEST_P(CallOperandsTest, HoldTheValuesRowByRowWithNansBetween) {
    for (const Operand *operand : of_shape(OperandShape::rows, false)) {
        const auto field = load_field<RowsField>(operands_.arguments(), *operand);
        const nf_dtype type = operand_type(problem_, *operand);
        for_each_row(field, 6 / groups_, groups_, [&](int64_t place, int64_t row) {
            for (int64_t i = 0; i < 37; i++) {
                EXPECT_EQ(load_value(field.data, type, place + i),
                          values_[static_cast<size_t>(operand->id)].at(row * 37 + i))
                    << operand->name;
            }
            if (row < 5) {
                EXPECT_TRUE(std::isnan(load_value(field.data, type, place + 37))) << operand->name;
            }
        });
    }
}

TEST_P(CallOperandsTest, HaveStridesOfTheirOwn) {
    std::set<int64_t> strides;
    size_t count = 0;
    for (bool written : {false, true}) {
        for (const Operand *operand : of_shape(OperandShape::rows, written)) {
            strides.insert(load_field<RowsField>(operands_.arguments(), *operand).row_stride);
            count++;
        }
    }
    EXPECT_EQ(strides.size(), count);
    EXPECT_GT(*strides.begin(), 37);
}

TEST_P(CallOperandsTest, OutputsMayChangeAndNothingElse) {
    const nf_arguments &arguments = operands_.arguments();
    EXPECT_EQ(operands_.damaged(arguments), std::nullopt);
    for (const Operand *operand : of_shape(OperandShape::rows, true)) {
        const auto field = load_field<RowsField>(arguments, *operand);
        const auto value_bytes = static_cast<int64_t>(element_size(operand_type(problem_, *operand)));
        field.data[value_bytes * (field.row_stride + 36)] ^= 1;
        EXPECT_EQ(operands_.damaged(arguments), std::nullopt);
        field.data[value_bytes * 37] ^= 1;
        EXPECT_EQ(operands_.damaged(arguments), operand->name);
        field.data[value_bytes * 37] ^= 1;
    }
    for (OperandShape shape : {OperandShape::rows, OperandShape::row_values, OperandShape::vector}) {
        for (const Operand *operand : of_shape(shape, false)) {
            char *data = load_field<char *>(arguments, *operand);
            data[1] ^= 1;
            EXPECT_EQ(operands_.damaged(arguments), operand->name);
            data[1] ^= 1;
        }
    }
    EXPECT_EQ(operands_.damaged(arguments), std::nullopt);
}

TEST_P(CallOperandsTest, InPlaceEachOutputLiesOverAnInputOfItsSize) {
    const nf_arguments in_place = operands_.in_place();
    std::set<const char *> used;
    for (const Operand *operand : of_shape(OperandShape::rows, true)) {
        const auto *data = load_field<const char *>(in_place, *operand);
        if (data == load_field<const char *>(operands_.arguments(), *operand)) {
            continue;
        }
        EXPECT_TRUE(used.insert(data).second) << "two over one";
        bool found = false;
        for (const Operand *input : of_shape(OperandShape::rows, false)) {
            if (load_field<const char *>(in_place, *input) == data) {
                found = true;
                EXPECT_EQ(load_field<RowsField>(in_place, *input).row_stride,
                          load_field<RowsField>(in_place, *operand).row_stride);
                EXPECT_EQ(element_size(operand_type(problem_, *input)),
                          element_size(operand_type(problem_, *operand)));
                // What lies over it may change it now.
                const_cast<char *>(data)[0] ^= 1;
                EXPECT_EQ(operands_.damaged(in_place), std::nullopt);
                EXPECT_EQ(operands_.damaged(operands_.arguments()), input->name);
                const_cast<char *>(data)[0] ^= 1;
            }
        }
        EXPECT_TRUE(found) << operand->name;
    }
    const bool one_byte = element_size(problem_.output) == 1;
    EXPECT_GE(used.size(), one_byte && problem_.sum == NF_NONE ? 0u : 1u);
}

TEST_P(CallOperandsTest, WrittenValuesAreReadBack) {
    for (const Operand *operand : of_shape(OperandShape::rows, true)) {
        const auto field = load_field<RowsField>(operands_.arguments(), *operand);
        const nf_dtype type = operand_type(problem_, *operand);
        for_each_row(field, 6 / groups_, groups_, [&](int64_t place, int64_t row) {
            for (int64_t i = 0; i < 37; i++) {
                store_value(field.data, type, place + i, static_cast<double>(row * 7 + i));
            }
        });
        const std::vector<float> values =
            written_values(problem_, operands_.arguments())[static_cast<size_t>(operand->id)];
        ASSERT_EQ(values.size(), 6u * 37);
        for (int64_t i = 0; i < 6 * 37; i++) {
            EXPECT_EQ(values[i], round_to(type, static_cast<double>(i / 37 * 7 + i % 37))) << operand->name;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(ProblemAndGroups, CallOperandsTest,
                         testing::Combine(testing::ValuesIn(kProblems), testing::Values(1, 2, 3)),
                         [](const auto &test) {
                             return symbol_name(problem_with(std::get<0>(test.param), 37)) + "_groups_" +
                                    std::to_string(std::get<1>(test.param));
                         });

TEST(OperandValues, OfChosenRowsAreInTheirOrder) {
    const NormProblem problem = problem_with("op=layer_norm,pass=backward,dtype=f32,saved_statistics=yes", 3);
    std::vector<TestRow> rows = test_rows(problem, 1);
    rows.resize(4);
    const OperandValues all = read_values(problem, rows, 1e-5f, 3);
    const OperandValues chosen = rows_of_values(problem, all, std::vector<size_t>{3, 1});
    for (OperandId id : {OperandId::x, OperandId::dy}) {
        const std::vector<float> &from = all[static_cast<size_t>(id)];
        EXPECT_EQ(chosen[static_cast<size_t>(id)],
                  (std::vector<float>{from[9], from[10], from[11], from[3], from[4], from[5]}));
    }
    const std::vector<float> &mean = all[static_cast<size_t>(OperandId::mean)];
    EXPECT_EQ(chosen[static_cast<size_t>(OperandId::mean)], (std::vector<float>{mean[3], mean[1]}));
    EXPECT_EQ(chosen[static_cast<size_t>(OperandId::weight)], all[static_cast<size_t>(OperandId::weight)]);
}

}  // namespace
}  // namespace normforge
