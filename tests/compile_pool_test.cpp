#include "autotune/search/compile_pool.h"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <thread>

#include "autotune/search/child_pool.h"
#include "schedules/space.h"
#include "schedules/target.h"

namespace normforge {
namespace {

KernelSpec example_spec(int64_t hidden) {
    const NormProblem problem = default_problem(NF_RMS_NORM, hidden);
    const Halide::Target target = kernel_target("host");
    return {problem, heuristic(problem, target), target};
}

std::vector<CompiledKernel> compiled(const std::vector<KernelSpec> &specs) {
    std::vector<CompiledKernel> result(specs.size());
    std::set<size_t> done;
    compile_all(specs, [&](size_t index, const CompiledKernel &kernel) {
        EXPECT_TRUE(done.insert(index).second) << index << " twice";
        result.at(index) = kernel;
    });
    EXPECT_EQ(done.size(), specs.size());
    return result;
}

TEST(CompilePool, GivesEachSpecItsObject) {
    std::vector<KernelSpec> specs;
    for (int64_t hidden : {8, 16, 24, 32, 40}) {
        specs.push_back(example_spec(hidden));
    }
    const std::vector<CompiledKernel> kernels = compiled(specs);
    for (size_t i = 0; i < specs.size(); i++) {
        EXPECT_EQ(kernels[i].status, TrialStatus::ok) << kernels[i].message;
        EXPECT_TRUE(kernels[i].object.starts_with("\177ELF"));
        EXPECT_NE(kernels[i].object.find(kernel_symbol(specs[i])), std::string::npos);
        EXPECT_GT(kernels[i].milliseconds, 0);
    }
}

// Whatever else is compiled before and beside them.
TEST(CompilePool, ObjectsOfASpecAreByteForByteEqual) {
    const std::vector<CompiledKernel> kernels = compiled({example_spec(64), example_spec(100), example_spec(64)});
    EXPECT_EQ(kernels[0].object, kernels[2].object);
    EXPECT_EQ(compiled({example_spec(64)})[0].object, kernels[0].object);
}

TEST(CompilePool, FailedOneIsAResultWithItsReason) {
    KernelSpec unknown = example_spec(64);
    unknown.problem.op = static_cast<nf_op>(99);
    const std::vector<CompiledKernel> kernels = compiled({example_spec(8), unknown, example_spec(16)});
    EXPECT_EQ(kernels[0].status, TrialStatus::ok);
    EXPECT_EQ(kernels[1].status, TrialStatus::compile_error);
    EXPECT_NE(kernels[1].message, "");
    EXPECT_EQ(kernels[1].object, "");
    EXPECT_EQ(kernels[2].status, TrialStatus::ok);
}

TEST(CompilePool, OfNothingIsNothing) {
    EXPECT_TRUE(compiled({}).empty());
}

TEST(CompilePool, ExceptionOfTheReceiverEndsIt) {
    const auto refuse = [](size_t, const CompiledKernel &) { throw std::runtime_error("enough"); };
    const std::vector<KernelSpec> specs = {example_spec(8), example_spec(16), example_spec(24)};
    EXPECT_THROW(compile_all(specs, refuse), std::runtime_error);
}

// Where two of them run at once, the second one's waits meanwhile.
TEST(ChildPool, AnswersOfJobsWaitForALateReceiver) {
    constexpr std::chrono::seconds kLimit(2);
    ChildPool pool{
        .jobs = 3, .work = [](size_t, const ChildProcess::Send &send) { send("answer"); }, .limits = {kLimit}};
    size_t received = 0;
    run(pool, [&](size_t, const ChildResult &result) {
        EXPECT_EQ(result.messages, std::vector<std::string>{"answer"}) << result.reason;
        if (received++ == 0) {
            std::this_thread::sleep_for(kLimit + std::chrono::milliseconds(100));
        }
    });
    EXPECT_EQ(received, pool.jobs);
}

}  // namespace
}  // namespace normforge
