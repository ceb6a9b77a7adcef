// Our layer_norm beside oneDNN's: one row in cache, one core, f32 with weight and bias, in one process on the same
// buffers. Each block times both, so a ratio is of two times that lie milliseconds apart.

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "bench/normal_values.h"
#include "bench/onednn_layer_norm.h"
#include "bench_norms.h"
#include "examples/accuracy.h"
#include "examples/aligned_floats.h"
#include "examples/interleaved_timing.h"
#include "runtime/norm_problem.h"

namespace {

using normforge::AlignedFloats;

constexpr size_t kPageFloats = 1024;

constexpr int64_t kHidden[] = {384, 1024, 4096};
constexpr int kBlocks = 501;
constexpr double kSampleNs = 5e5;  // shorter than a time slice of the scheduler, so most run undisturbed

// Keeps the process on the core where it is, and OpenMP at one thread. OpenMP reads its variable when it is
// loaded, before main, so the program starts itself anew.
void stay_on_one_core(char **argv) {
    cpu_set_t core;
    CPU_ZERO(&core);
    CPU_SET(sched_getcpu(), &core);
    if (sched_setaffinity(0, sizeof(core), &core) != 0) {
        throw std::system_error(errno, std::generic_category(), "sched_setaffinity");
    }
    const char *threads = std::getenv("OMP_NUM_THREADS");
    if (!threads || std::strcmp(threads, "1") != 0) {
        setenv("OMP_NUM_THREADS", "1", 1);
        execv("/proc/self/exe", argv);
        throw std::system_error(errno, std::generic_category(), "execv");
    }
}

struct Result {
    int64_t hidden;
    std::string source;  // of our schedule
    std::string implementation;
    double error, onednn_error;           // largest absolute ones, against f64
    double ns, onednn_ns, floor_ns;       // median time of a row; floor_ns is scale_and_shift's
    double ratio, ratio_low, ratio_high;  // quartiles of onednn_ns / ns of a block
};

void check(nf_status status) {
    if (status != NF_SUCCESS) {
        throw std::runtime_error(nf_status_message(status));
    }
}

// The largest error of what the run has just written; clears it.
double take_error(const nf_problem &problem, const nf_arguments &run, std::span<float> y, const char *whose) {
    normforge::Accuracy accuracy;
    normforge::compare_with_f64(problem, run, accuracy);
    if (!accuracy.within_bound()) {
        throw std::runtime_error(std::string(whose) + " result at hidden " + std::to_string(problem.hidden) +
                                 " is further from f64 than examples/accuracy.h allows");
    }
    std::fill(y.begin(), y.end(), NAN);
    return accuracy.largest_error;
}

// The least that any layer norm does: each operand read and each result written once, one fused operation a value.
__attribute__((target_clones("avx512f", "avx2", "default"), optimize("O3"))) void
scale_and_shift(const float *__restrict x, const float *__restrict weight, const float *__restrict bias,
                float *__restrict y, int64_t hidden) {
    for (int64_t i = 0; i < hidden; ++i) {
        y[i] = x[i] * weight[i] + bias[i];
    }
}

Result measure(int64_t hidden) {
    const nf_problem problem = normforge::default_problem(NF_LAYER_NORM, hidden);
    // One block of whole pages: at chance addresses of four allocations our time at 4096 varied by 8 % between
    // processes (Zen 4), where the first cache takes some for each other.
    const size_t pages = (hidden + kPageFloats - 1) / kPageFloats * kPageFloats;
    AlignedFloats memory = normforge::normal_values(4 * pages, 1);
    const float *x = memory.data();
    const std::span<float> y(memory.data() + pages, hidden);
    const float *weight = memory.data() + 2 * pages;
    const float *bias = memory.data() + 3 * pages;
    nf_arguments run{};
    run.rows = 1;
    run.epsilon = 1e-5f;
    run.x = {x, hidden, 0};
    run.weight = weight;
    run.bias = bias;
    run.y = {y.data(), hidden, 0};

    const nf_kernel *kernel = nullptr;
    nf_description description;
    check(nf_find(bench_norms_library(), &problem, &kernel));
    check(nf_describe(kernel, run.rows, &description));
    normforge::OneDnnLayerNorm onednn(problem, run);

    Result result;
    result.hidden = hidden;
    result.source = description.source;
    result.implementation = onednn.implementation();
    check(nf_run(kernel, &run));
    result.error = take_error(problem, run, y, "our");
    onednn.execute();
    result.onednn_error = take_error(problem, run, y, "oneDNN's");

    const auto run_ours = [&](int64_t calls) {
        for (int64_t call = 0; call < calls; ++call) {
            nf_run(kernel, &run);
        }
    };
    const auto run_onednn = [&](int64_t calls) {
        for (int64_t call = 0; call < calls; ++call) {
            onednn.execute();
        }
    };
    const auto run_floor = [&](int64_t calls) {
        for (int64_t call = 0; call < calls; ++call) {
            scale_and_shift(x, weight, bias, y.data(), hidden);
        }
    };
    const auto samples = normforge::time_interleaved({run_ours, run_onednn, run_floor}, kBlocks, kSampleNs);
    std::vector<double> ratios;
    for (int block = 0; block < kBlocks; ++block) {
        ratios.push_back(samples[1][block] / samples[0][block]);
    }
    result.ns = normforge::quantile(samples[0], 0.5);
    result.onednn_ns = normforge::quantile(samples[1], 0.5);
    result.floor_ns = normforge::quantile(samples[2], 0.5);
    result.ratio_low = normforge::quantile(ratios, 0.25);
    result.ratio = normforge::quantile(ratios, 0.5);
    result.ratio_high = normforge::quantile(ratios, 0.75);
    return result;
}

void print_table(const std::vector<Result> &results) {
    std::printf("layer_norm f32, one row in cache, one core; oneDNN %s (%s).\n"
                "Medians of %d interleaved blocks, quartiles of the blocks' ratios, largest errors against f64.\n"
                "The floor is the time of y = x * weight + bias on the same arrays.\n\n"
                "%6s  %9s  %9s  %9s  %13s  %13s  %9s  %12s  %s\n",
                normforge::onednn_version().c_str(), results.front().implementation.c_str(), kBlocks, "hidden",
                "ours ns", "oneDNN ns", "floor ns", "oneDNN / ours", "quartiles", "our error", "oneDNN error",
                "our schedule");
    for (const Result &result : results) {
        std::printf("%6d  %9.1f  %9.1f  %9.1f  %13.2f  %5.2f to %5.2f  %9.1e  %12.1e  %s\n",
                    static_cast<int>(result.hidden), result.ns, result.onednn_ns, result.floor_ns, result.ratio,
                    result.ratio_low, result.ratio_high, result.error, result.onednn_error, result.source.c_str());
    }
}

void print_json(const std::vector<Result> &results) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const Result &result : results) {
        rows.push_back({{"hidden", result.hidden},
                        {"source", result.source},
                        {"onednn_implementation", result.implementation},
                        {"ns", result.ns},
                        {"onednn_ns", result.onednn_ns},
                        {"floor_ns", result.floor_ns},
                        {"ratio", result.ratio},
                        {"ratio_quartiles", {result.ratio_low, result.ratio_high}},
                        {"blocks", kBlocks},
                        {"error", result.error},
                        {"onednn_error", result.onednn_error}});
    }
    const nlohmann::ordered_json document = {{"onednn_version", normforge::onednn_version()}, {"results", rows}};
    std::printf("%s\n", document.dump(2).c_str());
}

}  // namespace

int main(int argc, char **argv) {
    const bool json = argc == 2 && std::strcmp(argv[1], "--json") == 0;
    if (argc > 1 && !json) {
        std::fprintf(stderr, "usage: %s [--json]\n", argv[0]);
        return 2;
    }
    try {
        stay_on_one_core(argv);
        std::vector<Result> results;
        for (const int64_t hidden : kHidden) {
            results.push_back(measure(hidden));
        }
        json ? print_json(results) : print_table(results);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "error: %s\n", error.what());
        return 1;
    }
    return 0;
}
