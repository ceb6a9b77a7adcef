// Times every kernel of the library that bench/CMakeLists.txt generates. Bytes are those of x and y.

#include <benchmark/benchmark.h>

#include <cstdint>

#include "bench/normal_values.h"
#include "bench_norms.h"
#include "examples/aligned_floats.h"
#include "runtime/norm_problem.h"

namespace normforge {
namespace {

void run_kernel(benchmark::State &state, const nf_kernel *kernel, const NormProblem &problem) {
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
        if (const nf_status status = nf_run(kernel, &arguments)) {
            state.SkipWithError(nf_status_message(status));
            return;
        }
    }
    state.SetItemsProcessed(state.iterations() * rows);
    state.SetBytesProcessed(state.iterations() * rows * row_bytes(problem));
}

void register_kernel(const nf_kernel *kernel) {
    nf_description description;
    nf_describe(kernel, 1, &description);
    const NormProblem problem = description.problem;
    const nf_kernel *chosen = nullptr;
    nf_find(bench_norms_library(), &problem, &chosen);
    if (chosen != kernel) {
        return;  // it is for another CPU
    }
    const auto run = [kernel, problem](benchmark::State &state) { run_kernel(state, kernel, problem); };
    benchmark::RegisterBenchmark(symbol_name(problem).c_str(), run)->ArgName("rows")->Arg(1)->Arg(512);
}

}  // namespace
}  // namespace normforge

int main(int argc, char **argv) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
        return 2;
    }
    for (int64_t index = 0; index < nf_kernel_count(bench_norms_library()); ++index) {
        normforge::register_kernel(nf_kernel_at(bench_norms_library(), index));
    }
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
