#include "runtime/operands.h"

#include <algorithm>
#include <cctype>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>

namespace normforge {
namespace {

TEST(Operands, AreListedOnce) {
    std::set<std::string> names;
    std::set<size_t> offsets;
    for (const Operand &listed : kOperands) {
        EXPECT_EQ(&operand(listed.id), &listed);
        EXPECT_TRUE(names.insert(listed.name).second) << listed.name;
        EXPECT_TRUE(offsets.insert(listed.offset).second) << listed.name;
    }
}

size_t argument_size(OperandShape shape) {
    switch (shape) {
    case OperandShape::rows:
        return sizeof(nf_input);
    case OperandShape::row_values:
    case OperandShape::vector:
        return sizeof(void *);
    case OperandShape::number:
        return sizeof(float);
    }
    return 0;
}

// A field of nf_arguments that is in no row of the table would leave a gap here.
TEST(Operands, AreAllOfTheArgumentsButCountsAndWorkspace) {
    static_assert(sizeof(nf_input) == sizeof(nf_output));
    std::map<size_t, size_t> sizes = {{offsetof(nf_arguments, rows), sizeof(int64_t)},
                                      {offsetof(nf_arguments, groups), sizeof(int64_t)},
                                      {offsetof(nf_arguments, workspace), sizeof(void *)}};
    for (const Operand &operand : kOperands) {
        sizes[operand.offset] = argument_size(operand.shape);
    }
    size_t end = 0;
    for (const auto &[offset, size] : sizes) {
        EXPECT_EQ(offset, end);
        end = offset + size;
    }
    EXPECT_EQ(end, sizeof(nf_arguments));
}

// As "x:f32", what is written in capitals. Their order is the generators' affair.
std::set<std::string> operands_of(const char *problem_text) {
    const NormProblem problem = parse_problem(problem_text);
    std::set<std::string> operands;
    for (const Operand &operand : kOperands) {
        const nf_dtype type = operand_type(problem, operand);
        if (type == NF_NONE) {
            continue;
        }
        std::string name = operand.name;
        if (is_written(problem, operand)) {
            std::ranges::transform(name, name.begin(), [](char letter) { return std::toupper(letter); });
        }
        operands.insert(name + ":" + field_text(type));
    }
    return operands;
}

struct ProblemOperands {
    const char *problem;
    const char *operands;
};

class EachProblem : public testing::TestWithParam<ProblemOperands> {};

TEST_P(EachProblem, HasTheseOperands) {
    std::istringstream words(GetParam().operands);
    const std::set<std::string> expected{std::istream_iterator<std::string>(words), {}};
    EXPECT_EQ(operands_of(GetParam().problem), expected);
}

INSTANTIATE_TEST_SUITE_P(
    All, EachProblem,
    testing::Values(
        ProblemOperands{"op=layer_norm,dtype=f32,hidden=8", "x:f32 weight:f32 bias:f32 epsilon:f32 Y:f32"},
        ProblemOperands{"op=rms_norm,dtype=f16,weight=none,output=f32,hidden=8", "x:f16 epsilon:f32 Y:f32"},
        ProblemOperands{
            "op=layer_norm,dtype=bf16,weight=f32,bias=f16,residual=f16,sum=f32,saved_statistics=yes,hidden=8",
            "x:bf16 residual:f16 weight:f32 bias:f16 epsilon:f32 Y:bf16 SUM:f32 MEAN:f32 RSTD:f32"},
        ProblemOperands{"op=rms_norm,dtype=bf16,saved_statistics=yes,output=i8,scale=static,hidden=8",
                        "x:bf16 weight:bf16 epsilon:f32 scale:f32 Y:i8 RSTD:f32"},
        ProblemOperands{"op=rms_norm,dtype=f32,output=f8e4m3,scale=per_row,hidden=8",
                        "x:f32 weight:f32 epsilon:f32 Y:f8e4m3 SCALES:f32"},
        ProblemOperands{"op=layer_norm,pass=backward,dtype=f16,output=f32,saved_statistics=yes,hidden=8",
                        "x:f16 dy:f32 weight:f16 mean:f32 rstd:f32 DX:f16 DWEIGHT:f16 DBIAS:f16"},
        ProblemOperands{
            "op=rms_norm,pass=backward,dtype=f16,weight=none,residual=bf16,saved_statistics=yes,hidden=8",
            "x:f16 residual:bf16 dy:f16 rstd:f32 DX:f16 DRESIDUAL:bf16"},
        ProblemOperands{"op=rms_norm,pass=backward,dtype=f16,residual=bf16,sum=f32,saved_statistics=yes,hidden=8",
                        "dy:f16 dsum:f32 weight:f16 sum:f32 rstd:f32 DX:f16 DRESIDUAL:bf16 "
                        "DWEIGHT:f16"}),
    [](const auto &test) { return "case_" + std::to_string(test.index); });

}  // namespace
}  // namespace normforge
