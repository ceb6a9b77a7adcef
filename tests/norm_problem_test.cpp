#include "runtime/norm_problem.h"

#include <cctype>
#include <gtest/gtest.h>
#include <set>
#include <vector>

#include "runtime/user_error.h"

namespace normforge {
namespace {

// Every op with every choice of operands, at sizes from both ends of the range.
std::vector<NormProblem> all_problems() {
    std::vector<NormProblem> problems;
    for (const auto &op : kOps) {
        for (nf_dtype weight : {NF_NONE, NF_F32}) {
            for (nf_dtype bias : {NF_NONE, NF_F32}) {
                for (int64_t hidden : {int64_t{1}, int64_t{4096}, NF_MAX_HIDDEN}) {
                    problems.push_back({op.value, NF_F32, weight, bias, hidden});
                }
            }
        }
    }
    return problems;
}

std::string error_of(std::string_view text) {
    try {
        parse_problem(text);
    } catch (const UserError &error) {
        return error.what();
    }
    return "";
}

bool contains(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

TEST(NormProblem, TextGoesBothWays) {
    for (const NormProblem &problem : all_problems()) {
        const std::string text = to_text(problem);
        EXPECT_TRUE(same_problem(parse_problem(text), problem)) << text;
        EXPECT_EQ(to_text(parse_problem(text)), text);
    }
}

TEST(NormProblem, TextAndSymbolNameEveryField) {
    const NormProblem problem = default_problem(NF_LAYER_NORM, 4096);
    EXPECT_EQ(to_text(problem), "op=layer_norm,dtype=f32,weight=f32,bias=f32,hidden=4096");
    EXPECT_EQ(symbol_name(problem), "layer_norm_dtype_f32_weight_f32_bias_f32_hidden_4096");
    EXPECT_EQ(to_text(default_problem(NF_RMS_NORM, 7)), "op=rms_norm,dtype=f32,weight=f32,bias=none,hidden=7");
}

TEST(NormProblem, FieldsMayComeInAnyOrder) {
    EXPECT_TRUE(same_problem(parse_problem("hidden=7,bias=none,weight=f32,op=rms_norm,dtype=f32"),
                             default_problem(NF_RMS_NORM, 7)));
}

TEST(NormProblem, SymbolsAreDistinctIdentifiers) {
    std::set<std::string> symbols;
    for (const NormProblem &problem : all_problems()) {
        const std::string symbol = symbol_name(problem);
        EXPECT_TRUE(symbols.insert(symbol).second) << symbol;
        EXPECT_TRUE(std::isalpha(symbol.front())) << symbol;
        for (char letter : symbol) {
            EXPECT_TRUE(std::isalnum(letter) || letter == '_') << symbol;
        }
    }
}

TEST(NormProblem, ProblemsDifferInEachField) {
    const std::vector<NormProblem> problems = all_problems();
    for (size_t a = 0; a < problems.size(); a++) {
        for (size_t b = 0; b < problems.size(); b++) {
            EXPECT_EQ(same_problem(problems[a], problems[b]), a == b)
                << to_text(problems[a]) << to_text(problems[b]);
        }
    }
}

struct BadText {
    const char *name;
    const char *text;
    std::vector<std::string> told;  // what the message must say
};

class BadProblemText : public testing::TestWithParam<BadText> {};

TEST_P(BadProblemText, IsRefusedByName) {
    const std::string message = error_of(GetParam().text);
    ASSERT_NE(message, "") << "accepted: " << GetParam().text;
    for (const std::string &part : GetParam().told) {
        EXPECT_TRUE(contains(message, part)) << "no \"" << part << "\" in: " << message;
    }
}

const std::string kFields = "op, dtype, weight, bias, hidden";
const std::string kHiddenRange = "a whole number from 1 to 33554432";

INSTANTIATE_TEST_SUITE_P(
    All, BadProblemText,
    testing::Values(
        BadText{"empty", "", {"problem ''", "field=value", kFields}},
        BadText{"garbage", "layer_norm", {"'layer_norm'", "field=value", kFields}},
        BadText{"trailing_comma", "op=layer_norm,dtype=f32,weight=f32,bias=f32,hidden=8,", {"''", "field=value"}},
        BadText{"unknown_field", "op=layer_norm,size=4", {"'size'", "unknown", kFields}},
        BadText{"nameless_field", "=4", {"''", "unknown", kFields}},
        BadText{"repeated", "op=layer_norm,op=rms_norm", {"'op'", "twice", kFields}},
        BadText{"missing", "op=layer_norm,dtype=f32,weight=f32,hidden=8", {"'bias'", "missing", kFields}},
        BadText{"unknown_op", "op=batch_norm", {"op is 'batch_norm'", "layer_norm, rms_norm"}},
        BadText{"empty_op", "op=", {"op is ''", "layer_norm, rms_norm"}},
        BadText{"unknown_dtype", "weight=f64", {"weight is 'f64'", "f32, none"}},
        BadText{"x_of_no_type",
                "op=layer_norm,dtype=none,weight=f32,bias=f32,hidden=8",
                {"dtype=none", "NF_NONE only"}},
        BadText{"hidden_no_number", "hidden=many", {"hidden is 'many'", kHiddenRange}},
        BadText{"hidden_empty", "hidden=", {"hidden is ''", kHiddenRange}},
        BadText{"hidden_with_rest", "hidden=8x", {"hidden is '8x'", kHiddenRange}},
        BadText{"hidden_fraction", "hidden=8.5", {"hidden is '8.5'", kHiddenRange}},
        BadText{"hidden_spaced", "hidden= 8", {"hidden is ' 8'", kHiddenRange}},
        BadText{"hidden_zero", "hidden=0", {"hidden is '0'", kHiddenRange}},
        BadText{"hidden_negative", "hidden=-4", {"hidden is '-4'", kHiddenRange}},
        BadText{"hidden_too_large", "hidden=33554433", {"hidden is '33554433'", kHiddenRange}},
        BadText{"hidden_beyond_64_bits", "hidden=18446744073709551617", {"'18446744073709551617'", kHiddenRange}}),
    [](const auto &test) { return std::string(test.param.name); });

TEST(NormProblem, FailedParseLeavesTheFieldAlone) {
    int64_t hidden = 5;
    EXPECT_THROW(parse_field("hidden", "0", hidden), UserError);
    EXPECT_EQ(hidden, 5);
}

TEST(NormProblem, CheckNamesTheFirstIllegalField) {
    NormProblem problem = default_problem(NF_LAYER_NORM, 8);
    EXPECT_EQ(check_problem(problem), NF_SUCCESS);
    for (int64_t hidden : {int64_t{0}, int64_t{-1}, NF_MAX_HIDDEN + 1, INT64_MIN, INT64_MAX}) {
        problem.hidden = hidden;
        EXPECT_EQ(check_problem(problem), NF_ERROR_BAD_HIDDEN) << hidden;
    }
    problem.dtype = NF_NONE;
    EXPECT_EQ(check_problem(problem), NF_ERROR_UNKNOWN_DTYPE);
    problem.op = static_cast<nf_op>(0);
    EXPECT_EQ(check_problem(problem), NF_ERROR_UNKNOWN_OP);
}

// C callers can store any number in an enum.
TEST(NormProblem, CheckRefusesValuesOfNoType) {
    for (nf_dtype NormProblem::*field : {&NormProblem::dtype, &NormProblem::weight, &NormProblem::bias}) {
        NormProblem problem = default_problem(NF_LAYER_NORM, 8);
        problem.*field = static_cast<nf_dtype>(99);
        EXPECT_EQ(check_problem(problem), NF_ERROR_UNKNOWN_DTYPE);
    }
}

TEST(NormProblem, RowBytesCountInputAndOutput) {
    EXPECT_EQ(row_bytes(default_problem(NF_LAYER_NORM, 4096)), 2 * 4096 * 4);
    EXPECT_EQ(row_bytes(default_problem(NF_RMS_NORM, NF_MAX_HIDDEN)), 2 * NF_MAX_HIDDEN * 4);
}

}  // namespace
}  // namespace normforge
