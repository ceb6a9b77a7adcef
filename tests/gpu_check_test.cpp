// What runs on a machine with a GPU, tried with a stub in the driver's place.

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "autotune/library/cuda_entries.h"
#include "bench/gpu/bundle_form.h"
#include "bench/gpu/check_kernels.h"
#include "bench/gpu/time_kernels.h"
#include "bench/gpu/timed_rows.h"
#include "generators/cuda_codes.h"
#include "schedules/gpu_space.h"
#include "tests/serial_launch.h"

namespace normforge {
namespace {

using nlohmann::json;

class GpuCheck : public testing::Test {
protected:
    GpuCheck() {
        cuda_stub() = {};
        cuda_stub().run = [this](const StubLaunch &launch) {
            if (const auto found = sums.find(launch.symbol); found != sums.end()) {
                found->second.run(launch);
            } else {
                kernels.at(launch.symbol).run(launch);
            }
        };
    }

    json bundled(const char *text) {
        const NormProblem problem = parse_problem(text);
        const TableCudaEntry entry = cuda_entries({{problem, gpu_heuristic(problem), "heuristic"}}).front();
        for (const TableCudaCode &code : entry.codes) {
            kernels.try_emplace(code.symbol, problem, gpu_heuristic(problem), code.parameters);
        }
        for (const TableCudaCode &code : entry.sums) {
            sums.try_emplace(code.symbol, problem, code.parameters);
        }
        return bundle_form(entry);
    }

    std::map<std::string, SerialLaunch> kernels;
    std::map<std::string, SerialSums> sums;
};

TEST_F(GpuCheck, PassesRightKernels) {
    const json checked = {
        bundled("op=layer_norm,dtype=f32,hidden=128"),
        bundled("op=rms_norm,dtype=bf16,hidden=256,residual=bf16,sum=bf16"),
        bundled("op=layer_norm,dtype=f32,output=i8,scale=per_row,hidden=64,saved_statistics=yes"),
        bundled("op=layer_norm,pass=backward,dtype=bf16,hidden=256,saved_statistics=yes"),
    };
    const json results = check_kernels(CudaDevice(), checked);
    ASSERT_EQ(results.size(), checked.size());
    for (const json &result : results) {
        EXPECT_EQ(result.at("failure"), "") << result;
    }
    // With gaps between rows and without.
    for (auto &[symbol, kernel] : kernels) {
        EXPECT_TRUE(std::ranges::any_of(cuda_stub().launches, [&](const StubLaunch &launch) {
            return launch.symbol == symbol;
        })) << symbol;
        EXPECT_EQ(kernel.wrong_blocks, 0);
    }
}

TEST_F(GpuCheck, FindsWrongKernels) {
    const json checked = json::array({bundled("op=layer_norm,dtype=f32,hidden=128")});
    cuda_stub().run = nullptr;
    EXPECT_NE(check_kernels(CudaDevice(), checked).at(0).at("failure"), "");
}

TEST_F(GpuCheck, SaysWhatTheDriverRefused) {
    const json checked = json::array({bundled("op=layer_norm,dtype=f32,hidden=128")});
    cuda_stub().failing_call = "cuModuleLoadData";
    const CudaDevice device;
    EXPECT_EQ(check_kernels(device, checked).at(0).at("failure"), nf_status_message(NF_ERROR_CUDA_LOAD));
}

// The stub's events are always as far apart, so each schedule is as fast as the copy.
TEST_F(GpuCheck, TimesSchedulesBesideACopy) {
    cuda_stub().run = nullptr;
    cuda_stub().copies_on_device = false;
    const json bundle = {bundled("op=rms_norm,dtype=f32,hidden=8192"),
                         bundled("op=rms_norm,dtype=f32,hidden=8192")};
    const json timed = time_kernels(CudaDevice(), bundle);
    const NormProblem problem = parse_problem("op=rms_norm,dtype=f32,hidden=8192");
    EXPECT_EQ(timed.at("rows"), timed_rows(problem));
    EXPECT_EQ(timed.at("bytes"), timed_rows(problem) * 8192 * 8);
    ASSERT_EQ(timed.at("schedules").size(), 2u);
    EXPECT_EQ(timed.at("schedules")[0].at("copy_ratio"), 1.0);
    EXPECT_EQ(timed.at("schedules")[0].at("knobs"), to_text(gpu_heuristic(problem)));
    // All launches are of whole vectors.
    for (const StubLaunch &launch : cuda_stub().launches) {
        EXPECT_EQ(launch.symbol, bundle[0].at("codes")[0].at("symbol"));
    }
}

// Both launches of each call, which has a workspace; the copy moves what rows must.
TEST_F(GpuCheck, TimesGradientsBesideACopy) {
    const NormProblem problem =
        parse_problem("op=layer_norm,pass=backward,dtype=bf16,saved_statistics=yes,hidden=4096");
    const json bundle = json::array({timed_form(problem, gpu_heuristic(problem), "heuristic")});
    const std::string rows_symbol = bundle[0].at("codes")[0].at("symbol");
    const std::string sums_symbol = bundle[0].at("sums")[0].at("symbol");
    const std::vector<nf_cuda_parameter> parameters = cuda_sums(problem).front().parameters;
    std::map<std::string, int> launches;
    int without_workspace = 0;
    cuda_stub().run = [&](const StubLaunch &launch) {
        launches[launch.symbol]++;
        for (size_t index = 0; launch.symbol == sums_symbol && index < parameters.size(); index++) {
            const bool is_workspace = parameters[index].source == NF_CUDA_WORKSPACE;
            without_workspace += is_workspace && *static_cast<void *const *>(launch.parameters[index]) == nullptr;
        }
    };
    cuda_stub().copies_on_device = false;
    const json timed = time_kernels(CudaDevice(), bundle);
    EXPECT_EQ(timed.at("bytes"), timed_rows(problem) * (int64_t{4096} * 6 + 8));
    EXPECT_EQ(timed.at("schedules")[0].at("copy_ratio"), 1.0);
    EXPECT_EQ(launches.size(), 2u);
    EXPECT_GT(launches[sums_symbol], 24);
    EXPECT_EQ(launches[sums_symbol], launches[rows_symbol]);
    EXPECT_EQ(without_workspace, 0);
}

}  // namespace
}  // namespace normforge
