// The code of ARM's kernels. None runs here, so every machine can test it; arm_kernels_test has what they give.

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "generators/emit.h"
#include "runtime/user_error.h"
#include "schedules/space.h"
#include "schedules/target.h"
#include "tests/assembly.h"

namespace normforge {
namespace {

struct ArmTarget {
    const char *label;
    const char *name;
};
std::ostream &operator<<(std::ostream &stream, const ArmTarget &target) {
    return stream << target.label;
}

constexpr ArmTarget kTargets[] = {
    {"neon", "arm-64-linux-neon"},         {"fp16", "arm-64-linux-arm_fp16"},
    {"bf16", "arm-64-linux-armv86a"},      {"sve2_128", "arm-64-linux-armv86a-sve2-128"},
    {"sve_256", "arm-64-linux-sve-256"},   {"sve2_256", "arm-64-linux-armv86a-sve2-256"},
    {"sve2_512", "arm-64-linux-sve2-512"}, {"sve2_bf16_512", "arm-64-linux-armv86a-sve2-512"}};

constexpr const char *kProblems[] = {
    "op=layer_norm,dtype=f32",
    "op=rms_norm,dtype=f32",
    "op=layer_norm,dtype=bf16",
    "op=rms_norm,dtype=bf16,residual=bf16,sum=bf16",
    "op=layer_norm,dtype=f16",
    "op=rms_norm,dtype=f16",
    "op=rms_norm,dtype=f32,output=i8,scale=static",
    "op=layer_norm,pass=backward,dtype=f32,saved_statistics=yes",
    "op=rms_norm,pass=backward,dtype=bf16,saved_statistics=yes",
};

// The heuristic's kernel of 4096 values.
class ArmCode : public testing::TestWithParam<std::tuple<ArmTarget, const char *>> {
protected:
    const Halide::Target target = kernel_target(std::get<ArmTarget>(GetParam()).name);
    const NormProblem problem = parse_problem(std::get<1>(GetParam()) + std::string(",hidden=4096"));
    const KernelSpec spec{problem, heuristic(problem, target), target};
    const std::string assembly = emit(spec, EmitForm::assembly);
    const Instructions code = instructions(assembly);
    const bool is_wide = vector_bits(target) > 128;

    void expect_true_roots_and_divides_and_no_calls() const;
    void expect_no_stack_in_hot_loops() const;
    void expect_fma_in_hot_loops() const;
    void expect_whole_registers() const;
    void expect_conversions_by_instructions() const;
    void expect_streaming_only_where_asked() const;

    // Those that go over the values of rows, vector after vector; rare rows are summed in f64.
    std::vector<Instructions> hot_loops() const {
        std::vector<Instructions> loops = innermost_loops(assembly);
        std::erase_if(loops, [](const Instructions &loop) {
            return count_matches(loop, "\\W[vz]\\d+\\.[4]?s") == 0 || count_matches(loop, "^fcvt.*\\.2?d") > 0;
        });
        return loops;
    }
};

void ArmCode::expect_true_roots_and_divides_and_no_calls() const {
    EXPECT_EQ(count_matches(code, "^fsqrt") > 0, problem.pass == NF_FORWARD);
    EXPECT_EQ(count_matches(code, "^fdiv") > 0, problem.pass == NF_FORWARD);
    EXPECT_EQ(count_matches(code, "^(frsqrt|frecp)"), 0u);
    // Sums over no rows at all are set to zero by the C library's.
    EXPECT_EQ(count_matches(code, "^blr?\\s+(?!memset$)"), 0u);
}

// Where they do not go over the rows of a slice, whose sums lie there.
void ArmCode::expect_no_stack_in_hot_loops() const {
    const bool over_rows = problem.pass == NF_BACKWARD;
    const std::vector<Instructions> loops = hot_loops();
    ASSERT_GE(loops.size(), 2u);
    for (const Instructions &loop : loops) {
        EXPECT_EQ(count_matches(loop, over_rows ? "^st.*\\[sp" : "\\Wsp\\W"), 0u) << testing::PrintToString(loop);
    }
}

void ArmCode::expect_fma_in_hot_loops() const {
    size_t contracted = 0;
    for (const Instructions &loop : hot_loops()) {
        contracted += count_matches(loop, "^(fmla|fmls|fmad|fmsb|fnmsb|fnmls)\\s") > 0;
    }
    EXPECT_GE(contracted, 1u) << assembly;
}

// NEON loads two registers of f32 at once, SVE one, narrow values as half of it.
void ArmCode::expect_whole_registers() const {
    for (const Instructions &loop : hot_loops()) {
        if (is_wide) {
            // Whether a row is the first of a slice comes to all lanes as bytes.
            EXPECT_EQ(count_matches(loop, "^(?!dup\\sv\\d+\\.\\d+b).*\\Wv\\d+\\."), 0u)
                << testing::PrintToString(loop);
            EXPECT_GT(count_matches(loop, "^(ldr\\sz|ld1|ldp\\sq)"), 0u) << testing::PrintToString(loop);
        } else {
            const bool is_f32 = problem.dtype == NF_F32;
            EXPECT_GT(count_matches(loop, is_f32 ? "^ldp\\sq" : "^ldp\\s[dq]"), 0u)
                << testing::PrintToString(loop);
        }
    }
}

void ArmCode::expect_conversions_by_instructions() const {
    const bool is_bf16 = problem.output == NF_BF16;
    const bool has_bf16 = target.has_feature(Halide::Target::ARMv86a);
    size_t bf16 = 0, integer = 0, f16 = 0;
    for (const Instructions &loop : hot_loops()) {
        bf16 += count_matches(loop, "^bfcvt");
        integer += count_matches(loop, "^fcmu|^bic");
        f16 += count_matches(loop, "^fcvt");
    }
    EXPECT_EQ(bf16 > 0, is_bf16 && has_bf16);
    // Gradients are still rounded by the formula.
    if (is_bf16 && has_bf16 && problem.pass == NF_FORWARD) {
        EXPECT_EQ(integer, 0u) << assembly;
    }
    EXPECT_EQ(f16 > 0, problem.dtype == NF_F16);
}

// By pairs of registers, where they are asked for; without any barrier.
void ArmCode::expect_streaming_only_where_asked() const {
    EXPECT_EQ(count_matches(code, "^stn"), 0u);
    KernelSpec streaming = spec;
    streaming.knobs.stores = kStreaming;
    if (!check(problem, streaming.knobs, target).empty()) {
        EXPECT_TRUE(is_wide || problem.output != NF_F32);
        return;
    }
    const Instructions streamed = instructions(emit(streaming, EmitForm::assembly));
    // Rows beyond f32's range, or of means of two numbers, have a loop of their own.
    const int loops = problem.pass == NF_FORWARD ? 2 : 1;
    EXPECT_EQ(count_matches(streamed, "^stnp\\s+q"), static_cast<size_t>(loops * spec.knobs.unroll / 2));
    EXPECT_EQ(count_matches(streamed, "^(dmb|dsb)"), 0u);
}

INSTANTIATE_TEST_SUITE_P(All, ArmCode, testing::Combine(testing::ValuesIn(kTargets), testing::ValuesIn(kProblems)),
                         [](const auto &test) {
                             return symbol_name(
                                        parse_problem(std::get<1>(test.param) + std::string(",hidden=4096"))) +
                                    "_" + std::get<0>(test.param).label;
                         });

TEST_P(ArmCode, IsThatOfTheTarget) {
    expect_true_roots_and_divides_and_no_calls();
    expect_no_stack_in_hot_loops();
    expect_fma_in_hot_loops();
    expect_whole_registers();
    expect_conversions_by_instructions();
    expect_streaming_only_where_asked();
}

// By itself Halide would make wrong code.
TEST(ArmGenerators, RefuseToLetHalideMakeSve) {
    auto generator = Halide::Internal::GeneratorRegistry::create(
        "rms_norm", Halide::GeneratorContext(kernel_target("arm-64-linux-sve2-256")));
    EXPECT_THROW(generator->build_module("kernel"), UserError);
}

// The target's own limits count, not those of what Halide lowers for.
TEST(ArmGenerators, RefuseKnobsThatDoNotFitTheTarget) {
    const NormProblem problem = default_problem(NF_RMS_NORM, 4096);
    const Halide::Target target = kernel_target("arm-64-linux-sve2-256");
    KernelSpec spec{problem, heuristic(problem, target), target};
    spec.knobs.stores = kStreaming;
    EXPECT_THROW(emit(spec, EmitForm::object), UserError);
}

}  // namespace
}  // namespace normforge
