// GPU schedules in their form with barriers, on this machine's OpenCL device: PoCL's is its CPU.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "autotune/measure/accuracy_gate.h"
#include "autotune/measure/single_kernel.h"
#include "schedules/gpu_space.h"
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

// A schedule of a problem: by the heuristic where it has no text.
struct Case {
    std::string problem;
    std::string knobs;
};

// What one process tries: the device takes a second to open.
struct Cases {
    std::string name;
    std::vector<Case> cases;
};

class OpenClTest : public testing::TestWithParam<Cases> {
protected:
    void SetUp() override {
        if (!has_opencl()) {
            GTEST_SKIP() << "there is no OpenCL platform; Debian's pocl-opencl-icd is one";
        }
        // PoCL's optimisation takes several times as long as all else here.
        setenv("HL_OCL_BUILD_OPTIONS", "-cl-opt-disable", 1);
    }
};

TEST_P(OpenClTest, PassesTheAccuracyGate) {
    for (const auto &[text, knobs_text] : GetParam().cases) {
        SCOPED_TRACE(text + " " + knobs_text);
        const NormProblem problem = parse_problem(text);
        const GpuKnobs knobs = knobs_text.empty() ? gpu_heuristic(problem) : parse_gpu_knobs(knobs_text);
        ASSERT_EQ(check(problem, knobs), "");
        OpenClKernel kernel(problem, knobs);
        tested_kernel = &kernel;
        const SingleKernel caller(problem, run_tested_kernel);
        EXPECT_EQ(AccuracyGate(problem, MergedIn::f32).check(caller.kernel()).failure, "");
    }
}

// "op=..,dtype=.." of one of the operations, so that each type has both and each variant has both.
std::string start_of(nf_dtype dtype, int variant) {
    const bool is_layer_norm = (variant + static_cast<int>(dtype)) % 2 == 0;
    return std::string("op=") + (is_layer_norm ? "layer_norm" : "rms_norm") + ",dtype=" + field_text(dtype);
}

std::string two_values(nf_dtype dtype) {
    return "access=" + std::to_string(2 * element_size(dtype));
}

// Of rows that fill the threads' vectors and of others: in one warp, with a residual, quantised, and of several
// warps with the row in shared memory or nowhere.
Cases forward_cases(nf_dtype dtype) {
    const std::string type = field_text(dtype);
    const std::string row_of_warps = start_of(dtype, 3) + ",saved_statistics=yes,hidden=518";
    const char *sums = parse_problem(row_of_warps).op == NF_LAYER_NORM ? "lane_pivot" : "plain";
    return {"forward_" + type,
            {{start_of(dtype, 0) + ",hidden=128", ""},
             {start_of(dtype, 1) + ",residual=" + type + ",sum=" + type + ",hidden=77", ""},
             {start_of(dtype, 2) + ",output=i8,scale=per_row,hidden=200", ""},
             {row_of_warps,
              "sums=" + std::string(sums) + "," + two_values(dtype) + ",warps=2,rows=1,place=shared_memory"},
             {"op=layer_norm,dtype=" + type + ",output=f8e4m3,scale=static,hidden=518",
              "sums=two_pass," + two_values(dtype) + ",warps=4,rows=1,place=read_twice"}}};
}

Cases backward_cases(nf_dtype dtype) {
    const std::string type = field_text(dtype);
    const std::string backward = ",pass=backward,saved_statistics=yes";
    return {"backward_" + type,
            {{start_of(dtype, 0) + backward + ",hidden=128", ""},
             {start_of(dtype, 1) + backward + ",residual=" + type + ",sum=" + type + ",hidden=77", ""},
             {start_of(dtype, 3) + backward + ",epsilon_place=on_deviation,hidden=262",
              "sums=plain," + two_values(dtype) + ",warps=2,rows=1,place=shared_memory"}}};
}

INSTANTIATE_TEST_SUITE_P(Some, OpenClTest,
                         testing::Values(forward_cases(NF_F32), forward_cases(NF_F16), forward_cases(NF_BF16),
                                         backward_cases(NF_F32), backward_cases(NF_F16), backward_cases(NF_BF16)),
                         [](const auto &test) { return test.param.name; });

class OpenClSums : public OpenClTest {};

TEST_P(OpenClSums, AreExact) {
    for (const Case &each : GetParam().cases) {
        SCOPED_TRACE(each.problem);
        expect_exact_sums(parse_problem(each.problem), 100, opencl_target());
    }
}

INSTANTIATE_TEST_SUITE_P(
    Some, OpenClSums,
    testing::Values(Cases{"gradients",
                          {{"op=layer_norm,pass=backward,dtype=bf16,bias=f32,saved_statistics=yes,hidden=77", ""},
                           {"op=layer_norm,pass=backward,dtype=f32,saved_statistics=yes,hidden=256", ""},
                           {"op=rms_norm,pass=backward,dtype=bf16,saved_statistics=yes,hidden=100", ""}}}),
    [](const auto &test) { return test.param.name; });

}  // namespace
}  // namespace normforge
