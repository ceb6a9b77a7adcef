#include "runtime/norm_problem.h"

#include <cctype>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/user_error.h"
#include "tests/many_problems.h"

namespace normforge {
namespace {

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
    ASSERT_GT(many_problems().size(), 1000u);
    for (const NormProblem &problem : many_problems()) {
        const std::string text = to_text(problem);
        ASSERT_TRUE(same_problem(parse_problem(text), problem)) << text;
        ASSERT_EQ(to_text(parse_problem(text)), text);
    }
}

TEST(NormProblem, TextAndSymbolNameWhatIsNotUsual) {
    const NormProblem usual = default_problem(NF_LAYER_NORM, 4096);
    EXPECT_EQ(to_text(usual), "op=layer_norm,dtype=f32,hidden=4096");
    EXPECT_EQ(symbol_name(usual), "layer_norm_dtype_f32_hidden_4096");

    NormProblem problem = default_problem(NF_RMS_NORM, 7, NF_F16);
    EXPECT_EQ(to_text(problem), "op=rms_norm,dtype=f16,hidden=7");
    problem.output = NF_I8;
    problem.weight = NF_NONE;
    problem.bias = NF_F32;
    problem.scale = NF_SCALE_PER_ROW;
    problem.portable = NF_YES;
    EXPECT_EQ(to_text(problem),
              "op=rms_norm,dtype=f16,output=i8,weight=none,bias=f32,scale=per_row,portable=yes,hidden=7");
    EXPECT_EQ(symbol_name(problem),
              "rms_norm_dtype_f16_output_i8_weight_none_bias_f32_scale_per_row_portable_yes_hidden_7");
}

TEST(NormProblem, UsualOperandsAreOfTheTypeOfX) {
    for (nf_dtype type : {NF_F32, NF_F16, NF_BF16}) {
        const NormProblem layer = parse_problem("hidden=7,op=layer_norm,dtype=" + field_text(type));
        EXPECT_TRUE(same_problem(layer, default_problem(NF_LAYER_NORM, 7, type)));
        EXPECT_EQ(layer.output, type);
        EXPECT_EQ(layer.weight, type);
        EXPECT_EQ(layer.bias, type);
        EXPECT_EQ(default_problem(NF_RMS_NORM, 7, type).bias, NF_NONE);
        EXPECT_EQ(check_problem(layer), NF_SUCCESS);
    }
}

TEST(NormProblem, SymbolsAreDistinctIdentifiers) {
    std::set<std::string> symbols;
    for (const NormProblem &problem : many_problems()) {
        const std::string symbol = symbol_name(problem);
        ASSERT_TRUE(symbols.insert(symbol).second) << symbol;
        ASSERT_TRUE(std::isalpha(symbol.front())) << symbol;
        for (char letter : symbol) {
            ASSERT_TRUE(std::isalnum(letter) || letter == '_') << symbol;
        }
    }
}

TEST(NormProblem, ProblemsDifferInEachField) {
    const NormProblem problem = default_problem(NF_LAYER_NORM, 8);
    EXPECT_TRUE(same_problem(problem, problem));
    for (size_t field = 0; field < kFieldCount; field++) {
        int equal = 0;
        for (const NormProblem &changed : with_each_value(problem, field)) {
            equal += same_problem(problem, changed);
            EXPECT_EQ(same_problem(problem, changed), field_values(problem) == field_values(changed));
        }
        EXPECT_LE(equal, 1) << field;
    }
}

TEST(NormProblem, FieldsSayWhatTheyMayBe) {
    const std::map<std::string, std::string> allowed = {{"op", "layer_norm, rms_norm"},
                                                        {"pass", "forward, backward"},
                                                        {"dtype", "f32, f16, bf16"},
                                                        {"output", "f32, f16, bf16, i8, f8e4m3"},
                                                        {"weight", "f32, f16, bf16, none"},
                                                        {"bias", "f32, f16, bf16, none"},
                                                        {"weight_offset", "0, 1"},
                                                        {"epsilon_place", "in_root, on_deviation"},
                                                        {"normalised", "f16, bf16, none"},
                                                        {"residual", "f32, f16, bf16, none"},
                                                        {"sum", "f32, f16, bf16, none"},
                                                        {"statistics", "f16, bf16, none"},
                                                        {"saved_statistics", "no, yes"},
                                                        {"scale", "none, static, per_row"},
                                                        {"unquantised", "f16, bf16, none"},
                                                        {"portable", "no, yes"},
                                                        {"hidden", "a whole number from 1 to 33554432"}};
    EXPECT_EQ(allowed.size(), kFieldCount);
    for (const auto &[field, values] : allowed) {
        EXPECT_EQ(allowed_values(field), values) << field;
    }
    EXPECT_EQ(allowed_values("size"), "");
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

const std::string kFields =
    "op, pass, dtype, output, weight, bias, weight_offset, epsilon_place, normalised, residual, sum, statistics, "
    "saved_statistics, scale, unquantised, portable, hidden, of which op, dtype and hidden are needed";
const std::string kHiddenRange = "a whole number from 1 to 33554432";

INSTANTIATE_TEST_SUITE_P(
    All, BadProblemText,
    testing::Values(
        BadText{"empty", "", {"problem ''", "name=value", kFields}},
        BadText{"garbage", "layer_norm", {"'layer_norm'", "name=value", kFields}},
        BadText{"trailing_comma", "op=layer_norm,dtype=f32,hidden=8,", {"''", "name=value"}},
        BadText{"unknown_field", "op=layer_norm,dtype=f32,hidden=8,size=4", {"'size'", "unknown", kFields}},
        BadText{"nameless_field", "op=layer_norm,dtype=f32,hidden=8,=4", {"''", "unknown", kFields}},
        BadText{"repeated", "op=layer_norm,op=rms_norm", {"op is given", "twice", kFields}},
        BadText{"without_op", "dtype=f32,hidden=8", {"'op'", "missing", kFields}},
        BadText{"without_dtype", "op=layer_norm,weight=f32,hidden=8", {"'dtype'", "missing", kFields}},
        BadText{"without_hidden", "op=layer_norm,dtype=f32", {"'hidden'", "missing", kFields}},
        BadText{"unknown_op", "op=batch_norm,dtype=f32,hidden=8", {"op is 'batch_norm'", "layer_norm, rms_norm"}},
        BadText{"empty_op", "op=,dtype=f32,hidden=8", {"op is ''", "layer_norm, rms_norm"}},
        BadText{"unknown_dtype",
                "op=layer_norm,dtype=f32,hidden=8,weight=f64",
                {"weight is 'f64'", "f32, f16, bf16, none"}},
        BadText{"x_of_no_type", "op=layer_norm,dtype=none,hidden=8", {"dtype is 'none'", "f32, f16, bf16"}},
        BadText{"x_of_i8", "op=layer_norm,dtype=i8,hidden=8", {"dtype is 'i8'", "f32, f16, bf16"}},
        BadText{"rounded_to_f32",
                "op=layer_norm,dtype=f32,hidden=8,normalised=f32",
                {"normalised is 'f32'", "f16, bf16, none"}},
        BadText{"fields_that_do_not_fit",
                "op=layer_norm,dtype=f32,hidden=8,sum=f32",
                {"sum=f32'", "sum must be none"}}),
    [](const auto &test) { return std::string(test.param.name); });

class BadHidden : public testing::TestWithParam<const char *> {};

TEST_P(BadHidden, IsRefusedWithTheRange) {
    const std::string message = error_of(std::string("op=layer_norm,dtype=f32,hidden=") + GetParam());
    EXPECT_EQ(message, "hidden is '" + std::string(GetParam()) + "'; allowed: " + kHiddenRange);
}

INSTANTIATE_TEST_SUITE_P(All, BadHidden,
                         testing::Values("many", "", "8x", "8.5", " 8", "+8", "0", "-4", "33554433",
                                         "18446744073709551617"),
                         [](const auto &test) { return "case_" + std::to_string(test.index); });

TEST(NormProblem, FailedParseLeavesTheFieldAlone) {
    int64_t hidden = 5;
    EXPECT_THROW(parse_field("hidden", "0", hidden), UserError);
    EXPECT_EQ(hidden, 5);
}

TEST(NormProblem, RowBytesCountWhatEachRowReadsAndWrites) {
    const std::pair<const char *, int64_t> cases[] = {
        {"op=layer_norm,dtype=f32,hidden=4096", 4096 * (4 + 4)},
        {"op=rms_norm,dtype=f32,hidden=33554432", NF_MAX_HIDDEN * (4 + 4)},
        {"op=rms_norm,dtype=bf16,weight=f32,residual=f32,sum=bf16,hidden=10", 10 * (2 + 4 + 2 + 2)},
        {"op=layer_norm,dtype=f16,output=i8,scale=per_row,saved_statistics=yes,hidden=10", 10 * (2 + 1) + 3 * 4},
        {"op=rms_norm,dtype=f16,output=f8e4m3,scale=static,saved_statistics=yes,hidden=10", 10 * (2 + 1) + 4},
        // x, dy and dx; mean and rstd.
        {"op=layer_norm,pass=backward,dtype=f16,output=f32,saved_statistics=yes,hidden=10", 10 * (2 + 4 + 2) + 8},
        // sum, dy, dsum, dx and dresidual; rstd.
        {"op=rms_norm,pass=backward,dtype=f16,residual=f16,sum=f32,saved_statistics=yes,hidden=10",
         10 * (4 + 2 + 4 + 2 + 2) + 4},
    };
    for (const auto &[text, bytes] : cases) {
        EXPECT_EQ(row_bytes(parse_problem(text)), bytes) << text;
    }
}

}  // namespace
}  // namespace normforge
