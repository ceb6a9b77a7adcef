// Writes the kernels that gpu_check runs on a machine with a GPU: the heuristic's of many problems, to be checked,
// and schedules of a few, to be timed.

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

#include "autotune/library/cuda_entries.h"
#include "bench/gpu/bundle_form.h"
#include "bench/gpu/timed_rows.h"
#include "bench/gpu/unusual_problems.h"
#include "nlohmann/json.hpp"
#include "schedules/gpu_model.h"

namespace normforge {
namespace {

using nlohmann::json;

// Each way to keep a row, and all types.
constexpr const char *kChecked[] = {
    "op=layer_norm,dtype=f32,hidden=128",
    "op=layer_norm,dtype=f32,hidden=1000",
    "op=layer_norm,dtype=f16,hidden=1024,residual=f16,sum=f16",
    "op=rms_norm,dtype=bf16,hidden=2048",
    "op=layer_norm,dtype=f32,hidden=4096",
    "op=layer_norm,dtype=bf16,hidden=4096,residual=bf16,sum=bf16",
    "op=rms_norm,dtype=f16,hidden=5120",
    "op=layer_norm,dtype=f16,hidden=8192",
    "op=rms_norm,dtype=f32,hidden=16384",
    "op=layer_norm,dtype=bf16,hidden=16384",
    "op=layer_norm,pass=backward,dtype=f32,saved_statistics=yes,hidden=128",
    "op=layer_norm,pass=backward,dtype=bf16,saved_statistics=yes,hidden=1024",
    "op=rms_norm,pass=backward,dtype=bf16,saved_statistics=yes,hidden=4096",
    "op=layer_norm,pass=backward,dtype=f32,saved_statistics=yes,hidden=8192",
    "op=layer_norm,pass=backward,dtype=bf16,saved_statistics=yes,hidden=16384",
};

constexpr const char *kTimed[] = {
    "op=rms_norm,dtype=f32,hidden=128",
    "op=rms_norm,dtype=f16,hidden=128",
    "op=rms_norm,dtype=bf16,hidden=128",
    "op=rms_norm,dtype=f32,hidden=1024",
    "op=rms_norm,dtype=f16,hidden=1024",
    "op=rms_norm,dtype=bf16,hidden=4096",
    "op=rms_norm,dtype=f32,hidden=8192",
    "op=rms_norm,dtype=bf16,hidden=4096,residual=bf16,sum=bf16",
    "op=layer_norm,dtype=f32,hidden=1024",
    "op=layer_norm,dtype=f16,hidden=4096",
    "op=layer_norm,dtype=bf16,hidden=8192",
    "op=layer_norm,dtype=f32,hidden=16384",
    "op=layer_norm,pass=backward,dtype=f32,saved_statistics=yes,hidden=4096",
    "op=layer_norm,pass=backward,dtype=bf16,saved_statistics=yes,hidden=4096",
    "op=rms_norm,pass=backward,dtype=f32,saved_statistics=yes,hidden=4096",
    "op=rms_norm,pass=backward,dtype=bf16,saved_statistics=yes,hidden=4096",
};

// Beside the heuristic's. They are ranked for one device; those that others prefer are among them.
constexpr size_t kSchedules = 7;
constexpr const char *kRankedFor = "h200";

json checked_kernel(const NormProblem &problem) {
    return bundle_form(cuda_entries({{problem, gpu_heuristic(problem), "heuristic"}}).front());
}

json timed_kernels(const NormProblem &problem) {
    json kernels = json::array();
    const GpuKnobs usual = gpu_heuristic(problem);
    kernels.push_back(timed_form(problem, usual, "heuristic"));
    std::vector<GpuKnobs> ranked = ranked_schedules(gpu_device(kRankedFor), problem, timed_rows(problem));
    std::erase(ranked, usual);
    for (size_t index = 0; index < ranked.size() && index < kSchedules; index++) {
        kernels.push_back(timed_form(problem, ranked[index], "ranked"));
    }
    return kernels;
}

int write(const char *path) {
    json bundle = {{"version", nf_version()}, {"checked", json::array()}, {"timed", json::array()}};
    const auto check = [&](const char *text) { bundle["checked"].push_back(checked_kernel(parse_problem(text))); };
    std::ranges::for_each(kChecked, check);
    std::ranges::for_each(kUnusualGpuProblems, check);
    std::ranges::for_each(kUnusualGpuGradients, check);
    for (const char *text : kTimed) {
        bundle["timed"].push_back(timed_kernels(parse_problem(text)));
    }
    std::ofstream file(path);
    file << bundle;
    return file.flush() ? 0 : 1;
}

}  // namespace
}  // namespace normforge

int main(int count, char **arguments) {
    if (count != 2) {
        std::fprintf(stderr, "usage: gpu_bundle FILE\n");
        return 2;
    }
    try {
        return normforge::write(arguments[1]);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "gpu_bundle: %s\n", error.what());
        return 1;
    }
}
