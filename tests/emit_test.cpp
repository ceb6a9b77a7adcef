#include "generators/emit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "autotune/measure/child_process.h"
#include "runtime/user_error.h"
#include "schedules/space.h"
#include "schedules/target.h"
#include "tests/assembly.h"
#include "tests/f32_calls.h"
#include "tests/symbols_by_nm.h"
#include "tests/temporary_folder.h"

namespace normforge {
namespace {

constexpr const char *kSse41 = "x86-64-linux-sse41";
constexpr const char *kAvx2 = "x86-64-linux-avx2-fma-f16c-avx-sse41";
constexpr const char *kAvx512 = "x86-64-linux-avx512_skylake-avx512-avx2-fma-f16c-avx-sse41";

KernelSpec heuristic_spec(nf_op op, int64_t hidden, const std::string &target_name) {
    const NormProblem problem = default_problem(op, hidden);
    const Halide::Target target = kernel_target(target_name);
    return {problem, heuristic(problem, target), target};
}

struct Code {
    const char *machine;
    const char *target;
    nf_op op;
};

constexpr Code kCodes[] = {{"sse41", kSse41, NF_LAYER_NORM},   {"sse41", kSse41, NF_RMS_NORM},
                           {"avx2", kAvx2, NF_LAYER_NORM},     {"avx2", kAvx2, NF_RMS_NORM},
                           {"avx512", kAvx512, NF_LAYER_NORM}, {"avx512", kAvx512, NF_RMS_NORM}};

// The heuristic's kernel of 4096 values. None runs here, so every machine can test every target.
class Emitted : public testing::TestWithParam<Code> {
protected:
    const KernelSpec spec = heuristic_spec(GetParam().op, 4096, GetParam().target);
    const std::string symbol = kernel_symbol(spec);
};

INSTANTIATE_TEST_SUITE_P(All, Emitted, testing::ValuesIn(kCodes), [](const auto &test) {
    return std::string(test.param.machine) + "_" + field_text(test.param.op);
});

std::string object_from_child(const KernelSpec &spec) {
    ChildProcess child([&](const ChildProcess::Send &send) { send(emit(spec, EmitForm::object)); });
    const auto object = child.read(std::chrono::seconds(30));
    EXPECT_TRUE(object) << child.reason();
    return object.value_or("");
}

// The library must hold the object that was measured, though other kernels are made in between and the measured
// one came from another process.
TEST_P(Emitted, ObjectIsTheSameEachTime) {
    const std::string first = emit(spec, EmitForm::object);
    EXPECT_EQ(emit(spec, EmitForm::object), first);
    const KernelSpec others[] = {heuristic_spec(NF_LAYER_NORM, 95, GetParam().target),
                                 heuristic_spec(NF_RMS_NORM, 16511, GetParam().target)};
    for (int round = 0; round < 6; round++) {  // Halide numbers names, and past 9 they sort otherwise
        for (const KernelSpec &other : others) {
            emit(other, EmitForm::object);
        }
    }
    EXPECT_EQ(emit(spec, EmitForm::object), first);
    EXPECT_EQ(object_from_child(spec), first);
}

TEST_P(Emitted, ObjectDefinesItsEntryAndNeedsNothing) {
    const TemporaryFolder folder;
    folder.write("kernel.o", emit(spec, EmitForm::object));
    EXPECT_EQ(symbols_by_nm("--defined-only --extern-only", folder / "kernel.o"), (std::set<std::string>{symbol}));
    EXPECT_EQ(symbols_by_nm("--undefined-only", folder / "kernel.o"), (std::set<std::string>{}));
}

TEST_P(Emitted, CodeHasTrueRootsAndDividesAndNoCalls) {
    const Instructions code = instructions(emit(spec, EmitForm::assembly));
    ASSERT_GT(code.size(), 50u);
    EXPECT_GE(count_matches(code, "^v?sqrt"), 1u);
    EXPECT_GE(count_matches(code, "^v?div"), 1u);
    EXPECT_EQ(count_matches(code, "^v?rsqrt|^v?rcp"), 0u);
    EXPECT_EQ(count_matches(code, "^call"), 0u);
}

// The sums over a row and the loop that writes it keep all they need in registers; 5120 values are in three runs.
TEST_P(Emitted, LoopsDoNotTouchTheStack) {
    for (int64_t hidden : {4096, 5120}) {
        const KernelSpec each = heuristic_spec(GetParam().op, hidden, GetParam().target);
        const std::string assembly = emit(each, EmitForm::assembly);
        const std::vector<Instructions> loops = innermost_loops(assembly);
        ASSERT_GE(loops.size(), 2u);
        const bool has_frame = std::regex_search(assembly, std::regex("mov\\w*\\s+%rsp, %rbp"));
        for (const Instructions &loop : loops) {
            EXPECT_EQ(count_matches(loop, has_frame ? "\\(%r[sb]p" : "\\(%rsp"), 0u)
                << hidden << " " << testing::PrintToString(loop);
        }
    }
}

// Halide's strict_float alone would keep multiplications and additions apart.
TEST_P(Emitted, LoopsContractToFmaWhereTheTargetHasIt) {
    const std::vector<Instructions> loops = innermost_loops(emit(spec, EmitForm::assembly));
    ASSERT_GE(loops.size(), 2u);
    const bool has_fma = spec.target.has_feature(Halide::Target::FMA);
    const bool has_bias = spec.problem.bias != NF_NONE;
    for (const Instructions &loop : loops) {
        if (count_matches(loop, "^v?cvt[sp]s2[sp]d") > 0) {
            continue;  // sums in f64 of rare rows
        }
        const bool writes = count_matches(loop, "^v?movups\\s.*,[^()]*\\([^()]*\\)$") > 0;
        EXPECT_EQ(count_matches(loop, "^vfn?madd.*ps") > 0, has_fma && (has_bias || !writes))
            << testing::PrintToString(loop);
    }
}

// The sums of what is left of whole vectors stay in registers: part of a vector is stored in rows alone.
TEST(MaskedStores, AreOfRowsAlone) {
    const std::string assembly = emit(heuristic_spec(NF_RMS_NORM, 1000, kAvx512), EmitForm::assembly);
    EXPECT_EQ(count_of(assembly, "vmov[au]p[sd]\\s+%zmm\\d+, .*\\(.*\\) \\{%k"), 1u);
}

TEST_P(Emitted, VectorsAreAsWideAsTheTargets) {
    const Instructions code = instructions(emit(spec, EmitForm::assembly));
    EXPECT_EQ(count_matches(code, "%zmm") > 0, GetParam().target == kAvx512);
    EXPECT_EQ(count_matches(code, "%ymm") > 0, GetParam().target != kSse41);
}

TEST_P(Emitted, AssemblyIsThatOfTheEntry) {
    const std::string assembly = emit(spec, EmitForm::assembly);
    EXPECT_NE(assembly.find("\n" + symbol + ":"), std::string::npos);
}

TEST_P(Emitted, StatementNamesTheStages) {
    const std::string stmt = emit(spec, EmitForm::stmt);
    const bool centred = spec.problem.op == NF_LAYER_NORM;
    for (const char *stage : {centred ? "moments_last_lanes" : "squares_last_lanes",
                              centred ? "moments_sums" : "squares_sums", "rstd", "weight_values"}) {
        EXPECT_NE(stmt.find(stage), std::string::npos) << stage;
    }
    EXPECT_EQ(stmt.find("centre_error") != std::string::npos, centred);
}

TEST_P(Emitted, BitcodeIsBitcodeWithTheEntry) {
    const std::string bitcode = emit(spec, EmitForm::bitcode);
    EXPECT_EQ(bitcode.substr(0, 4), "BC\xC0\xDE");
    EXPECT_NE(bitcode.find(symbol), std::string::npos);
}

// Behind the last row lies memory of others, which would take the place of what the next call reads.
TEST_P(Emitted, PrefetchesNothingBehindTheLastRow) {
    KernelSpec ahead = spec;
    ahead.knobs.prefetch = 2;
    for (const int writing : {kAscending, kDescending}) {
        ahead.knobs.writing = writing;
        const std::string stmt = emit(ahead, EmitForm::stmt);
        const size_t prefetch = stmt.find("prefetch(");
        ASSERT_NE(prefetch, std::string::npos) << stmt;
        const size_t block = stmt.rfind('}', prefetch);
        EXPECT_LT(stmt.find("if (", block), prefetch) << stmt.substr(block, prefetch - block);
    }
}

// The whole row goes past the caches, in order before what follows; rows that no vector can take go to other code.
TEST_P(Emitted, StreamsRowsBesideACopyThatDoesNot) {
    const std::string movnt = "movnt(ps|dq)[ \t]";
    EXPECT_EQ(count_of(emit(spec, EmitForm::assembly), movnt), 0u);
    KernelSpec streaming = spec;
    streaming.knobs.stores = kStreaming;
    const std::string assembly = emit(streaming, EmitForm::assembly);
    const std::string fallback = kernel_symbol(streaming) + "_cached:";
    const size_t cached = assembly.find("\n" + fallback);
    const size_t entry = assembly.find("\n" + kernel_symbol(streaming) + ":");
    ASSERT_NE(cached, std::string::npos);
    ASSERT_LT(entry, cached);
    const std::string entry_code = assembly.substr(entry, cached - entry);
    // Rows beyond f32's range, or of means of two numbers, have a loop of their own.
    EXPECT_EQ(count_of(entry_code, movnt), static_cast<size_t>(2 * streaming.knobs.unroll));
    EXPECT_GE(count_of(entry_code, "sfence"), 1u);
    EXPECT_EQ(count_of(assembly.substr(cached), movnt + "|sfence"), 0u);
}

// Problems, knobs and targets that differ in one thing each.
TEST(KernelSymbol, IsACIdentifierThatDiffersBetweenAnyTwoSpecs) {
    std::vector<KernelSpec> specs;
    for (nf_op op : {NF_LAYER_NORM, NF_RMS_NORM}) {
        for (int64_t hidden : {1, 11, 111, 4096}) {
            for (nf_dtype weight : {NF_NONE, NF_F32}) {
                for (nf_dtype bias : {NF_NONE, NF_F32}) {
                    const NormProblem problem = f32_problem(op, weight, bias, hidden);
                    for (const char *name : {"x86-64-linux", kSse41, kAvx2, kAvx512}) {
                        const Halide::Target target = kernel_target(name);
                        for (const Knobs &knobs : enumerate(problem, target)) {
                            specs.push_back({problem, knobs, target});
                        }
                    }
                }
            }
        }
    }
    const std::regex identifier("nf_[a-z_][a-z0-9_]*");
    std::set<std::string> symbols;
    for (const KernelSpec &spec : specs) {
        const std::string symbol = kernel_symbol(spec);
        ASSERT_TRUE(std::regex_match(symbol, identifier)) << symbol;
        ASSERT_TRUE(symbol.starts_with("nf_" + symbol_name(spec.problem))) << symbol;
        ASSERT_TRUE(symbols.insert(symbol).second) << symbol << " " << to_text(spec.knobs);
    }
    EXPECT_GT(symbols.size(), 10000u);
}

TEST(Emit, RefusesKnobsThatDoNotFitTheProblem) {
    KernelSpec spec = heuristic_spec(NF_LAYER_NORM, 64, kSse41);
    spec.knobs.sums = kPlain;
    try {
        emit(spec, EmitForm::object);
        FAIL() << "accepted";
    } catch (const UserError &error) {
        const std::string reason = check(spec.problem, spec.knobs, spec.target);
        ASSERT_NE(reason, "");
        for (const std::string &part : {to_text(spec.knobs), to_text(spec.problem), reason}) {
            EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
        }
    }
}

}  // namespace
}  // namespace normforge
