// GPU kernels by what the assembler says of them. Where it is not installed, tests that need it are skipped.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <numeric>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "generators/gpu_emit.h"
#include "runtime/gradient_sums.h"
#include "runtime/operands.h"
#include "schedules/gpu_space.h"
#include "schedules/schedule_gpu_sums.h"
#include "tests/assembly.h"
#include "tests/gpu_problems.h"
#include "tests/temporary_folder.h"

namespace normforge {
namespace {

std::string output_of(const std::string &command) {
    const std::unique_ptr<FILE, int (*)(FILE *)> pipe(popen((command + " 2>&1").c_str(), "r"), pclose);
    std::string output;
    std::array<char, 4096> part{};
    while (pipe && std::fgets(part.data(), part.size(), pipe.get())) {
        output += part.data();
    }
    return output;
}

int number_in(const std::string &text, const std::string &pattern) {
    std::smatch match;
    return std::regex_search(text, match, std::regex(pattern)) ? std::stoi(match[1]) : -1;
}

// The bytes of each access to global memory by that instruction.
std::vector<int> accesses(const std::string &ptx, const std::string &instruction) {
    const std::regex regex(instruction + R"(\.global(?:\.nc)?(?:\.v(\d))?\.[bfus](\d+))");
    std::vector<int> bytes;
    for (std::sregex_iterator match(ptx.begin(), ptx.end(), regex), end; match != end; ++match) {
        const int values = (*match)[1].matched ? std::stoi((*match)[1]) : 1;
        bytes.push_back(values * std::stoi((*match)[2]) / 8);
    }
    return bytes;
}

class PtxTest : public testing::TestWithParam<NormProblem> {
protected:
    const NormProblem &problem() const { return GetParam(); }
    const GpuKnobs knobs = gpu_heuristic(problem());

    int64_t operands(bool written) const {
        int64_t count = 0;
        for (const Operand &operand : kOperands) {
            const bool has_values = operand.shape == OperandShape::rows || operand.shape == OperandShape::vector;
            count += has_values && operand_type(problem(), operand) != NF_NONE &&
                     is_written(problem(), operand) == written;
        }
        return count;
    }
};

INSTANTIATE_TEST_SUITE_P(Grid, PtxTest, testing::ValuesIn(gpu_problems()),
                         [](const auto &test) { return symbol_name(test.param); });

void expect_no_spills(const std::string &ptx, int threads, const char *device) {
    const TemporaryFolder folder;
    folder.write("kernel.ptx", ptx);
    const std::string output = output_of(std::string(NORMFORGE_PTXAS) + " -v -o /dev/null -arch=" + device + " " +
                                         (folder / "kernel.ptx").string());
    SCOPED_TRACE(ptx.substr(0, ptx.find("\n.")) + " " + device + ": " + output);
    EXPECT_EQ(count_of(output, "error|fatal"), 0u);
    EXPECT_EQ(count_of(output, " 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads"), 1u);
    const int registers = number_in(output, R"(Used (\d+) registers)");
    EXPECT_GT(registers, 0);
    EXPECT_LE(registers * threads, 65536);
}

// Every device assembles PTX of 8.0 for itself.
TEST_P(PtxTest, AssemblesWithoutSpillsWithinTheRegisters) {
    if (std::string_view(NORMFORGE_PTXAS).empty()) {
        GTEST_SKIP() << "ptxas is not installed";
    }
    for (const char *device : {"sm_80", "sm_90", "sm_100"}) {
        expect_no_spills(emit_ptx({problem(), knobs}), block_needs(problem(), knobs).threads, device);
    }
    for (const GpuKnobs &each : some_schedules(problem(), 1)) {
        expect_no_spills(emit_ptx({problem(), each}), block_needs(problem(), each).threads, "sm_90");
    }
}

// Each value of the row is read once and written once, as wide as threads can. Roots and quotients are true ones,
// and numbers keep their subnormals. Only warps wait for one another.
TEST_P(PtxTest, MovesEachValueOnceInWholeVectors) {
    const std::string ptx = emit_ptx({problem(), knobs});
    const ThreadValues values = thread_values(problem(), knobs);
    if (problem().hidden >= 256) {
        EXPECT_EQ(knobs.access, 16);
    }
    const std::vector<int> loads = accesses(ptx, "ld");
    const std::vector<int> stores = accesses(ptx, "st");
    EXPECT_EQ(std::ranges::count(loads, knobs.access), values.chunks() * operands(false));
    EXPECT_EQ(std::ranges::count(stores, knobs.access), values.chunks() * operands(true));
    EXPECT_EQ(stores.size(), static_cast<size_t>(values.chunks() * operands(true)));
    // layer_norm reads the row's first three values for themselves.
    const int64_t rows_read = problem().residual == NF_NONE ? 1 : 2;
    const int64_t single = problem().op == NF_LAYER_NORM ? 3 * rows_read : 0;
    EXPECT_EQ(std::ranges::count(loads, static_cast<int>(element_size(problem().dtype))), single);

    EXPECT_GE(count_of(ptx, R"(sqrt\.rn\.f32)"), 1u);
    EXPECT_EQ(count_of(ptx, R"(\.ftz|\.approx|div\.full)"), 0u);

    const size_t barriers = count_of(ptx, R"(\bbar(rier)?\.)");
    EXPECT_EQ(barriers > 0, knobs.warps > 1);
    EXPECT_LE(barriers, 4u);
}

class GradientPtxTest : public testing::TestWithParam<NormProblem> {};

INSTANTIATE_TEST_SUITE_P(Grid, GradientPtxTest, testing::ValuesIn(gpu_gradients()),
                         [](const auto &test) { return symbol_name(test.param); });

INSTANTIATE_TEST_SUITE_P(Others, GradientPtxTest, testing::ValuesIn(other_gpu_gradients()),
                         [](const auto &test) { return symbol_name(test.param); });

TEST_P(GradientPtxTest, AssemblesWithoutSpillsWithinTheRegisters) {
    if (std::string_view(NORMFORGE_PTXAS).empty()) {
        GTEST_SKIP() << "ptxas is not installed";
    }
    const NormProblem &problem = GetParam();
    const GpuKnobs knobs = gpu_heuristic(problem);
    for (const char *device : {"sm_80", "sm_90", "sm_100"}) {
        expect_no_spills(emit_cuda({problem, knobs}).ptx, block_needs(problem, knobs).threads, device);
        if (has_gpu_sums(problem)) {
            expect_no_spills(emit_cuda_sums(problem).ptx, kSumValues * kSumParts, device);
        }
    }
}

// The row and dy are read once, and what is of the row's type is written once, as wide as threads can. Several
// warps wait for one another three times a row: for the row, for its sums, and before the next row.
TEST_P(GradientPtxTest, MovesWholeVectors) {
    const NormProblem &problem = GetParam();
    const GpuKnobs knobs = gpu_heuristic(problem);
    const std::string ptx = emit_cuda({problem, knobs}).ptx;
    const ThreadValues values = thread_values(problem, knobs);
    const std::vector<int> stores = accesses(ptx, "st");
    const bool has_narrow_rows = values.vector == 1 || knobs.place == kReadTwice;
    if (!has_narrow_rows) {
        EXPECT_EQ(std::ranges::count(stores, static_cast<int>(element_size(problem.dtype))), 0);
        // The saved statistics.
        const std::vector<int> loads = accesses(ptx, "ld");
        EXPECT_LE(std::ranges::count_if(loads, [](int bytes) { return bytes <= 4; }), 8);
    }
    EXPECT_EQ(count_of(ptx, R"(\.ftz|\.approx|div\.full|atom|red\.global)"), 0u);
    const size_t barriers = count_of(ptx, R"(\bbar(rier)?\.)");
    EXPECT_EQ(barriers > 0, knobs.warps > 1);
    EXPECT_LE(barriers, 5u);
}

// For each row what the static model reckons with, and beside that what is in caches: the weight once or twice,
// the statistics that every thread reads, and the sums that the row is added to. Each partial sum is read once,
// and what they add up to written once.
TEST_P(GradientPtxTest, MovesWhatTheModelReckonsWith) {
    const NormProblem &problem = GetParam();
    const GpuKnobs knobs = gpu_heuristic(problem);
    const ThreadValues values = thread_values(problem, knobs);
    const auto bytes = [](const std::string &ptx, const char *instruction) {
        const std::vector<int> all = accesses(ptx, instruction);
        return std::accumulate(all.begin(), all.end(), int64_t{0});
    };
    const auto weight_bytes = static_cast<int64_t>(element_size(problem.weight));
    if (values.tail_vectors == 0) {  // else threads have more than the row
        const std::string ptx = emit_cuda({problem, knobs}).ptx;
        const int64_t statistics = problem.op == NF_LAYER_NORM ? 8 : 4;
        const int64_t in_caches = (values.threads - 1) * statistics + 2 * gradient_values(problem) * 4;
        const int64_t weights = values.threads * (bytes(ptx, "ld") + bytes(ptx, "st")) -
                                block_needs(problem, knobs).row_bytes - in_caches;
        EXPECT_GE(weights, problem.hidden * weight_bytes);
        EXPECT_LE(weights, 2 * problem.hidden * weight_bytes);
    }
    if (has_gpu_sums(problem)) {
        const std::string sums = emit_cuda_sums(problem).ptx;
        EXPECT_EQ(bytes(sums, "ld") * problem.hidden, 4 * gradient_values(problem));
        EXPECT_EQ(bytes(sums, "st"), weight_bytes + static_cast<int64_t>(element_size(problem.bias)));
    }
}

class UnalignedPtxTest : public testing::TestWithParam<NormProblem> {};

INSTANTIATE_TEST_SUITE_P(Others, UnalignedPtxTest, testing::ValuesIn(other_gpu_problems()),
                         [](const auto &test) { return symbol_name(test.param); });

// Else a device stops at the first address that is no multiple of what it moves.
TEST_P(UnalignedPtxTest, MovesSingleValues) {
    const std::string ptx = emit_ptx({GetParam(), gpu_heuristic(GetParam()), GpuAlignment::value});
    size_t largest = 0;
    for (const Operand &operand : kOperands) {
        largest = std::max(largest, element_size(operand_type(GetParam(), operand)));
    }
    for (const char *instruction : {"ld", "st"}) {
        const std::vector<int> bytes = accesses(ptx, instruction);
        ASSERT_FALSE(bytes.empty());
        EXPECT_LE(std::ranges::max(bytes), static_cast<int>(largest)) << instruction;
    }
}

TEST_P(PtxTest, LaunchesTheBlockThatIsReckonedWith) {
    const std::string stmt = emit_gpu_stmt({problem(), knobs});
    std::smatch launch;
    const std::regex pattern(R"(, 1, 1, 32, (\d+), 1, (?:0 \+ \((\d+)\*(\d+)\)|0), )");
    ASSERT_TRUE(std::regex_search(stmt, launch, pattern)) << stmt.substr(stmt.find("halide_cuda_run("), 300);
    const BlockNeeds needs = block_needs(problem(), knobs);
    EXPECT_EQ(32 * std::stoi(launch[1]), needs.threads);
    const int shared = launch[2].matched ? std::stoi(launch[2]) * std::stoi(launch[3]) : 0;
    EXPECT_LE(shared, needs.shared_bytes);
    EXPECT_EQ(shared == 0, knobs.warps == 1);
}

}  // namespace
}  // namespace normforge
