#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <type_traits>

#include "runtime/norm_problem.h"

namespace normforge {
namespace {

struct CheckedProblem {
    nf_status status;
    const char *legal;  // what `spoil` makes illegal, or not
    void (*spoil)(NormProblem &);
};

class EachCheck : public testing::TestWithParam<CheckedProblem> {};

TEST_P(EachCheck, HasThisStatus) {
    NormProblem problem = parse_problem(GetParam().legal);
    GetParam().spoil(problem);
    EXPECT_EQ(check_problem(problem), GetParam().status) << nf_status_message(check_problem(problem));
}

constexpr const char *kUsual = "op=layer_norm,dtype=f32,hidden=8";
constexpr const char *kQuantised = "op=layer_norm,dtype=f32,output=i8,scale=static,hidden=8";
constexpr const char *kResidual = "op=layer_norm,dtype=f32,residual=bf16,sum=bf16,statistics=bf16,hidden=8";
constexpr const char *kBackward = "op=layer_norm,pass=backward,dtype=f32,saved_statistics=yes,hidden=8";

// C callers can store any number in an enum.
template <typename Value>
void set_unknown(Value &field) {
    field = static_cast<Value>(99);
}

INSTANTIATE_TEST_SUITE_P(
    All, EachCheck,
    testing::Values(
        CheckedProblem{NF_ERROR_UNKNOWN_OP, kUsual, [](auto &p) { p.op = static_cast<nf_op>(0); }},
        CheckedProblem{NF_ERROR_UNKNOWN_OP, kUsual, [](auto &p) { set_unknown(p.op); }},
        CheckedProblem{NF_ERROR_UNKNOWN_OPTION, kUsual, [](auto &p) { set_unknown(p.pass); }},
        CheckedProblem{NF_ERROR_UNKNOWN_OPTION, kUsual, [](auto &p) { set_unknown(p.weight_offset); }},
        CheckedProblem{NF_ERROR_UNKNOWN_OPTION, kUsual, [](auto &p) { set_unknown(p.epsilon_place); }},
        CheckedProblem{NF_ERROR_UNKNOWN_OPTION, kUsual, [](auto &p) { set_unknown(p.saved_statistics); }},
        CheckedProblem{NF_ERROR_UNKNOWN_OPTION, kUsual, [](auto &p) { set_unknown(p.scale); }},
        CheckedProblem{NF_ERROR_UNKNOWN_OPTION, kUsual, [](auto &p) { set_unknown(p.portable); }},
        CheckedProblem{NF_ERROR_BAD_HIDDEN, kUsual, [](auto &p) { p.hidden = 0; }},
        CheckedProblem{NF_ERROR_BAD_HIDDEN, kUsual, [](auto &p) { p.hidden = -1; }},
        CheckedProblem{NF_SUCCESS, kUsual, [](auto &p) { p.hidden = NF_MAX_HIDDEN; }},
        CheckedProblem{NF_ERROR_BAD_HIDDEN, kUsual, [](auto &p) { p.hidden = NF_MAX_HIDDEN + 1; }},
        CheckedProblem{NF_ERROR_BAD_HIDDEN, kUsual, [](auto &p) { p.hidden = INT64_MIN; }},
        CheckedProblem{NF_ERROR_BAD_HIDDEN, kUsual, [](auto &p) { p.hidden = INT64_MAX; }},
        CheckedProblem{NF_SUCCESS, kUsual, [](auto &p) { p.weight_offset = NF_OFFSET_ONE; }},
        CheckedProblem{NF_ERROR_OFFSET_WITHOUT_WEIGHT, kUsual,
                       [](auto &p) { p.weight_offset = NF_OFFSET_ONE, p.weight = NF_NONE; }},
        CheckedProblem{NF_ERROR_SUM_WITHOUT_RESIDUAL, kUsual, [](auto &p) { p.sum = NF_F32; }},
        CheckedProblem{NF_ERROR_BAD_STATISTICS, kUsual, [](auto &p) { p.statistics = NF_F16; }},
        CheckedProblem{NF_ERROR_BAD_STATISTICS, kResidual, [](auto &p) { p.statistics = NF_F16; }},
        CheckedProblem{NF_ERROR_BAD_STATISTICS, kResidual, [](auto &p) { p.sum = NF_F32; }},
        CheckedProblem{NF_SUCCESS, kResidual, [](auto &p) { p.sum = NF_NONE; }},
        CheckedProblem{NF_SUCCESS, kResidual, [](auto &p) { p.statistics = NF_NONE; }},
        CheckedProblem{NF_ERROR_BAD_SCALE_KIND, kQuantised, [](auto &p) { p.scale = NF_SCALE_NONE; }},
        CheckedProblem{NF_ERROR_BAD_SCALE_KIND, kUsual, [](auto &p) { p.scale = NF_SCALE_STATIC; }},
        CheckedProblem{NF_ERROR_BAD_SCALE_KIND, kUsual, [](auto &p) { p.scale = NF_SCALE_PER_ROW; }},
        CheckedProblem{NF_ERROR_BAD_UNQUANTISED, kUsual, [](auto &p) { p.unquantised = NF_BF16; }},
        CheckedProblem{NF_SUCCESS, kQuantised, [](auto &p) { p.unquantised = NF_BF16; }},
        CheckedProblem{NF_ERROR_BAD_BACKWARD, kBackward, [](auto &p) { p.saved_statistics = NF_NO; }},
        CheckedProblem{NF_ERROR_BAD_BACKWARD, kBackward,
                       [](auto &p) { p.output = NF_F8E4M3, p.scale = NF_SCALE_STATIC; }},
        // The first illegal field decides.
        CheckedProblem{NF_ERROR_UNKNOWN_DTYPE, kUsual, [](auto &p) { p.dtype = NF_NONE, p.hidden = 0; }}),
    [](const auto &test) { return "case_" + std::to_string(test.index); });

TEST(ProblemCheck, RefusesTypesThatAFieldMayNotBe) {
    for (const char *text : {kUsual, kQuantised, kResidual}) {
        NormProblem problem = parse_problem(text);
        const auto check_type = [&](std::string_view name, nf_dtype &field) {
            const nf_dtype legal = field;
            for (int value = -1; value <= 99; value++) {
                field = static_cast<nf_dtype>(value);
                const bool refused = check_problem(problem) == NF_ERROR_UNKNOWN_DTYPE;
                const bool allowed = value >= NF_NONE && value <= NF_F8E4M3 && is_legal_value(name, field);
                EXPECT_EQ(refused, !allowed) << name << " " << value;
            }
            field = legal;
        };
        visit_fields(problem, [&]<typename Value>(std::string_view name, Value &field) {
            if constexpr (std::is_same_v<Value, nf_dtype>) {
                check_type(name, field);
            }
        });
    }
}

}  // namespace
}  // namespace normforge
