// The order in which a step of a loop writes its rows. None runs here, so every machine can test every target.

#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>
#include <vector>

#include "generators/emit.h"
#include "schedules/space.h"
#include "schedules/target.h"
#include "tests/assembly.h"

namespace normforge {
namespace {

struct WrittenRows {
    const char *label;
    const char *target;
    const char *problem;
};

const WrittenRows kWrittenRows[] = {
    {"avx512", "x86-64-linux-avx512_skylake-avx2-fma-f16c-avx-sse41",
     "op=rms_norm,dtype=f32,residual=f32,sum=f32"},
    {"avx512_bf16", "x86-64-linux-avx512_sapphirerapids-avx2-fma-f16c-avx-sse41",
     "op=layer_norm,dtype=bf16,residual=bf16,sum=bf16"},
    {"avx2", "x86-64-linux-avx2-fma-f16c-avx-sse41", "op=layer_norm,dtype=f32,residual=f32,sum=f32"},
    {"sse41", "x86-64-linux-sse41", "op=rms_norm,dtype=f32,residual=f32,sum=f32"},
};

class StoresOfRows : public testing::TestWithParam<WrittenRows> {};

// The registers that the addresses of a loop's vector stores begin with, in their order.
std::vector<std::string> stored_bases(const Instructions &loop) {
    const std::regex store("v?mov(?:u|a)p[sd]|v?movdq[ua]");
    const std::regex address("[xyz]mm\\d+, -?\\d*\\((%\\w+)");
    std::vector<std::string> bases;
    for (const std::string &instruction : loop) {
        std::smatch match;
        if (std::regex_search(instruction, store) && std::regex_search(instruction, match, address)) {
            bases.push_back(match[1]);
        }
    }
    return bases;
}

TEST_P(StoresOfRows, AreNotByTurns) {
    const NormProblem problem = parse_problem(std::string(GetParam().problem) + ",hidden=1024");
    const Halide::Target target = kernel_target(GetParam().target);
    const std::string code = emit({problem, heuristic(problem, target), target}, EmitForm::assembly);
    int seen = 0;
    for (const Instructions &loop : innermost_loops(code)) {
        const std::vector<std::string> bases = stored_bases(loop);
        const std::set<std::string> rows(bases.begin(), bases.end());
        if (rows.size() < 2 || bases.size() < 4) {
            continue;
        }
        seen++;
        size_t changes = 0;
        for (size_t index = 1; index < bases.size(); index++) {
            changes += bases[index] != bases[index - 1];
        }
        EXPECT_EQ(changes, rows.size() - 1) << code;
    }
    EXPECT_GT(seen, 0) << code;
}

INSTANTIATE_TEST_SUITE_P(All, StoresOfRows, testing::ValuesIn(kWrittenRows),
                         [](const auto &test) { return std::string(test.param.label); });

}  // namespace
}  // namespace normforge
