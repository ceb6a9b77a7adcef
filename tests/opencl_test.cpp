// GPU schedules in their form with barriers, on this machine's OpenCL device: PoCL's is its CPU.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "autotune/measure/accuracy_gate.h"
#include "autotune/measure/single_kernel.h"
#include "schedules/gpu_space.h"
#include "tests/gpu_problems.h"
#include "tests/gpu_sums_cases.h"
#include "tests/opencl_kernel.h"

namespace normforge {
namespace {

bool has_opencl() {
    void *library = dlopen("libOpenCL.so", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        return false;
    }
    int (*get_platforms)(uint32_t, void **, uint32_t *) = nullptr;
    void *symbol = dlsym(library, "clGetPlatformIDs");
    std::memcpy(&get_platforms, &symbol, sizeof get_platforms);
    uint32_t platforms = 0;
    return get_platforms && get_platforms(0, nullptr, &platforms) == 0 && platforms > 0;
}

OpenClKernel *tested_kernel = nullptr;

void run_tested_kernel(const nf_arguments *arguments) {
    tested_kernel->run(*arguments);
}

class OpenClTest : public testing::TestWithParam<NormProblem> {
protected:
    void SetUp() override {
        if (!has_opencl()) {
            GTEST_SKIP() << "there is no OpenCL platform; Debian's pocl-opencl-icd is one";
        }
    }
};

TEST_P(OpenClTest, PassesTheAccuracyGate) {
    const NormProblem &problem = GetParam();
    OpenClKernel kernel(problem, gpu_heuristic(problem));
    tested_kernel = &kernel;
    const SingleKernel caller(problem, run_tested_kernel);
    const AccuracyGate::Result result = AccuracyGate(problem, MergedIn::f32).check(caller.kernel());
    EXPECT_EQ(result.failure, "");
}

class OpenClSums : public OpenClTest {};

TEST_P(OpenClSums, AreExact) {
    expect_exact_sums(GetParam(), 100, opencl_target());
}

INSTANTIATE_TEST_SUITE_P(Some, OpenClSums,
                         testing::Values(parse_problem(
                             "op=layer_norm,pass=backward,dtype=bf16,bias=f32,saved_statistics=yes,hidden=77")),
                         [](const auto &test) { return symbol_name(test.param); });

std::vector<NormProblem> problems() {
    std::vector<NormProblem> result;
    for (const char *text :
         {"op=layer_norm,dtype=f32,hidden=128", "op=rms_norm,dtype=f16,hidden=256",
          "op=layer_norm,dtype=bf16,hidden=200,residual=bf16,sum=bf16", "op=rms_norm,dtype=f32,hidden=2304",
          "op=layer_norm,dtype=bf16,hidden=2560", "op=layer_norm,dtype=f32,output=i8,scale=per_row,hidden=256",
          "op=layer_norm,dtype=f32,hidden=77,saved_statistics=yes",
          "op=layer_norm,pass=backward,dtype=f32,hidden=128,saved_statistics=yes",
          "op=layer_norm,pass=backward,dtype=bf16,hidden=200,residual=bf16,sum=bf16,saved_statistics=yes",
          "op=rms_norm,pass=backward,dtype=f32,hidden=2304,saved_statistics=yes",
          "op=layer_norm,pass=backward,dtype=f16,hidden=2560,epsilon_place=on_deviation,saved_statistics=yes"}) {
        result.push_back(parse_problem(text));
    }
    return result;
}

INSTANTIATE_TEST_SUITE_P(Some, OpenClTest, testing::ValuesIn(problems()),
                         [](const auto &test) { return symbol_name(test.param); });

}  // namespace
}  // namespace normforge
