// The instructions that kernels convert 16-bit and quantised values with. conversions_test has what they give;
// this finds out when a change of the compilers or of the formulas hides a form that the LLVM stage looks for.
// None runs here, so every machine can test every target.

#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "generators/emit.h"
#include "schedules/space.h"
#include "schedules/target.h"
#include "tests/assembly.h"

namespace normforge {
namespace {

struct NarrowCode {
    const char *label;
    const char *target;
    const char *problem;             // beside op and hidden
    std::vector<const char *> used;  // regular expressions, as below
    std::vector<const char *> unused;
};

constexpr const char *kZen4 = "x86-64-linux-avx512_zen4-avx2-fma-f16c-avx-sse41";
constexpr const char *kSapphireRapids = "x86-64-linux-avx512_sapphirerapids-avx2-fma-f16c-avx-sse41";
constexpr const char *kSkylake = "x86-64-linux-avx512_skylake-avx2-fma-f16c-avx-sse41";
constexpr const char *kAvx2 = "x86-64-linux-avx2-fma-f16c-avx-sse41";
constexpr const char *kSse41 = "x86-64-linux-sse41";
constexpr const char *kBf16 = "dtype=bf16";
constexpr const char *kF16 = "dtype=f16";
constexpr const char *kI8 = "dtype=f32,output=i8,scale=static";

// Where all that lies along a row is bf16, its values are taken in pairs; a residual of f32 prevents that.
constexpr const char *kSingleBf16 = "dtype=bf16,residual=f32,sum=bf16";

const NarrowCode kCodes[] = {
    {"bf16_zen4", kZen4, kBf16, {"vpslld.*zmm", "vcvtne2ps2bf16", "vpermw"}, {"vpmov", "vpermt2w"}},
    {"bf16_sapphirerapids",
     kSapphireRapids,
     kBf16,
     {"vpslld.*zmm", "vpdpwssd.*zmm"},
     {"vpmov", "vcvtne", "vperm", "vpmaddwd", "vcmp"}},
    {"bf16_skylake", kSkylake, kBf16, {"vpslld.*zmm", "vpermt2w"}, {"vpmov", "vcvtne"}},
    {"bf16_avx2", kAvx2, kBf16, {"vpslld.*ymm", "vpblendw.*ymm"}, {"vpmov", "vpack", "vpshufb"}},
    {"bf16_sse41", kSse41, kBf16, {"pslld.*xmm", "pblendw.*xmm"}, {"pmov", "pack", "pshufb", "punpck"}},
    {"single_bf16_zen4", kZen4, kSingleBf16, {"vcvtne2ps2bf16", "vpermt2w"}, {"vpmovzxwd.*zmm", "vpmovdw"}},
    {"single_bf16_sapphirerapids",
     kSapphireRapids,
     kSingleBf16,
     {"vcvtne2ps2bf16", "vpmovzxwd.*zmm"},
     {"vpmovdw"}},
    {"single_bf16_skylake", kSkylake, kSingleBf16, {"vperm[it]2w", "vpmovzxwd.*zmm"}, {"vpmovdw", "vcvtne"}},
    {"single_bf16_avx2",
     kAvx2,
     kSingleBf16,
     {"vpackusdw.*ymm", "vpshufb.*ymm"},
     {"vpmovzxwd.*ymm", "vextract.*\n\\s*vpack"}},
    {"f16_zen4", kZen4, kF16, {"vcvtph2ps.*ymm", "vcvtps2ph.*ymm.*\\("}, {"vcvtph2ps.*zmm"}},
    {"f16_sapphirerapids", kSapphireRapids, kF16, {"vcvtph2ps\\s.*zmm", "vcvtps2ph\\s.*zmm.*\\("}, {}},
    {"f16_avx2", kAvx2, kF16, {"vcvtph2ps.*ymm", "vcvtps2ph.*ymm.*\\("}, {}},
    {"i8_skylake", kSkylake, kI8, {"vpmovdb.*zmm.*\\("}, {}},
    {"i8_avx2", kAvx2, kI8, {"vpackuswb.*ymm"}, {}},
};

class NarrowInstructions : public testing::TestWithParam<NarrowCode> {};

TEST_P(NarrowInstructions, AreTheTargetsOwn) {
    const NormProblem problem = parse_problem("op=rms_norm,hidden=4096," + std::string(GetParam().problem));
    const Halide::Target target = kernel_target(GetParam().target);
    const std::string code = emit({problem, heuristic(problem, target), target}, EmitForm::assembly);
    for (const char *used : GetParam().used) {
        EXPECT_TRUE(std::regex_search(code, std::regex(used))) << used << "\n" << code;
    }
    for (const Instructions &loop : innermost_loops(code)) {
        if (count_matches(loop, "cvtps2pd") > 0) {
            continue;  // sums in f64 of rare rows
        }
        std::string text;
        for (const std::string &instruction : loop) {
            text += instruction + "\n";
        }
        for (const char *unused : GetParam().unused) {
            EXPECT_FALSE(std::regex_search(text, std::regex(unused))) << unused << "\n" << text;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, NarrowInstructions, testing::ValuesIn(kCodes),
                         [](const auto &test) { return std::string(test.param.label); });

// Where rows of a block are summed, with an address for each row and residual, as well as where one row is.
TEST(PairsInBlocks, AreLoadedByOneVector) {
    for (const char *target_name : {kZen4, kSapphireRapids, kSkylake, kAvx2}) {
        for (const char *op : {"layer_norm", "rms_norm"}) {
            const NormProblem problem =
                parse_problem(std::string("op=") + op + ",hidden=1024,dtype=bf16,residual=bf16,sum=bf16");
            const Halide::Target target = kernel_target(target_name);
            Knobs knobs = heuristic(problem, target);
            knobs.block = 4;
            const std::string code = emit({problem, knobs, target}, EmitForm::assembly);
            size_t loops_of_pairs = 0;
            for (const Instructions &loop : innermost_loops(code)) {
                if (count_matches(loop, "cvtps2pd") > 0 || count_matches(loop, "vpslld") == 0) {
                    continue;  // sums in f64 of rare rows, and loops over no codes
                }
                loops_of_pairs++;
                EXPECT_EQ(count_matches(loop, "vpmovzx|vpshufb|vpunpck"), 0u) << target_name << "\n" << code;
            }
            EXPECT_GE(loops_of_pairs, 2u) << target_name << "\n" << code;
        }
    }
}

// A vector of pairs that began with a second value would end one value behind the weight's last one.
TEST(PairsInBlocks, BeginWithTheirFirstValues) {
    for (const char *op : {"layer_norm", "rms_norm"}) {
        const NormProblem problem = parse_problem(std::string("op=") + op + ",hidden=64,dtype=bf16");
        const Halide::Target target = kernel_target(kSapphireRapids);
        const std::string code = emit({problem, heuristic(problem, target), target}, EmitForm::assembly);
        EXPECT_GT(count_of(code, "vpslld.*%zmm"), 0u) << code;
        EXPECT_EQ(count_of(code, "\\s\\d*[26]\\(%\\w+\\), %zmm"), 0u) << code;
    }
}

}  // namespace
}  // namespace normforge
