// Times every kernel of the library that bench/CMakeLists.txt generates, on one thread and on a pool of as many as
// the process can keep busy. Bytes are those of x and y.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdio>

#include "bench/normal_values.h"
#include "bench_norms.h"
#include "examples/aligned_floats.h"
#include "runtime/norm_problem.h"

namespace normforge {
namespace {

void run_kernel(benchmark::State &state, const nf_kernel *kernel, const NormProblem &problem,
                const nf_threads *threads) {
    const int64_t rows = state.range(0);
    const int64_t hidden = problem.hidden;
    const AlignedFloats x = normal_values(rows * hidden, 1);
    const AlignedFloats weight = normal_values(hidden, 2);
    const AlignedFloats bias = normal_values(hidden, 3);
    AlignedFloats y(x.size());
    nf_arguments arguments{};
    arguments.rows = rows;
    arguments.epsilon = 1e-5f;
    arguments.x = {x.data(), hidden, 0};
    arguments.weight = weight.data();
    arguments.bias = bias.data();
    arguments.y = {y.data(), hidden, 0};
    for ([[maybe_unused]] auto iteration : state) {
        if (const nf_status status = nf_run_on(kernel, &arguments, threads)) {
            state.SkipWithError(nf_status_message(status));
            return;
        }
    }
    state.SetItemsProcessed(state.iterations() * rows);
    state.SetBytesProcessed(state.iterations() * rows * row_bytes(problem));
}

void register_kernel(const nf_kernel *kernel, const nf_threads *threads) {
    nf_description description;
    nf_describe(kernel, 1, &description);
    const NormProblem problem = description.problem;
    const nf_kernel *chosen = nullptr;
    nf_find(bench_norms_library(), &problem, &chosen);
    if (chosen != kernel) {
        return;  // it is for another CPU
    }
    const auto run = [kernel, problem, threads](benchmark::State &state) {
        run_kernel(state, kernel, problem, state.range(1) == 1 ? nullptr : threads);
    };
    auto *registered = benchmark::RegisterBenchmark(symbol_name(problem).c_str(), run);
    registered->ArgNames({"rows", "threads"})->UseRealTime()->Args({1, 1})->Args({512, 1});
    if (threads->count > 1) {
        registered->Args({512, threads->count});
    }
}

}  // namespace
}  // namespace normforge

int main(int argc, char **argv) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
        return 2;
    }
    nf_pool *pool = nullptr;
    if (const nf_status status = nf_pool_create(0, &pool)) {
        std::fprintf(stderr, "%s\n", nf_status_message(status));
        return 1;
    }
    for (int64_t index = 0; index < nf_kernel_count(bench_norms_library()); ++index) {
        normforge::register_kernel(nf_kernel_at(bench_norms_library(), index), nf_pool_threads(pool));
    }
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    nf_pool_destroy(pool);
    return 0;
}
