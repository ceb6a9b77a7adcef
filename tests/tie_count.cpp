// One kernel under two names, contested and decided as a tuning session's last round is: how often of so many
// times that is a tie. scripts/test_ties.sh runs it under load.

#include <cstdio>
#include <cstdlib>

#include "autotune/measure/contest.h"
#include "autotune/measure/loaded_kernel.h"
#include "autotune/search/selection.h"
#include "generators/emit.h"
#include "schedules/space.h"
#include "schedules/target.h"

namespace normforge {
namespace {

constexpr int kBlocks = 33;
constexpr double kSampleNanoseconds = 250e3;

bool is_tie(const nf_kernel &first, const nf_kernel &second, const TimingOperands &operands, uint64_t seed) {
    std::vector<Trial> trials(2);
    for (size_t i = 0; i < 2; i++) {
        trials[i].knobs = i == 0 ? "reference" : "other";
        trials[i].rows = operands.arguments().rows;
        trials[i].output_digest = "one kernel";
    }
    run_contest(
        {&first, {&first, &second}, &operands, 0, kBlocks, kSampleNanoseconds, seed},
        {.sample = [&](size_t contender, const Sample &sample) { trials[contender].samples.push_back(sample); },
         .out = [](size_t, TrialStatus, const std::string &) { std::abort(); }});
    return select_best(trials, "reference").choices.at(0).knobs == "reference";
}

int count_ties(int64_t hidden, int64_t rows, int times) {
    const NormProblem problem = default_problem(NF_LAYER_NORM, hidden);
    const Halide::Target target = kernel_target("host");
    const KernelSpec spec{problem, heuristic(problem, target), target};
    const std::string object = emit(spec, EmitForm::object);
    const LoadedKernel first(problem, object, kernel_symbol(spec)), second(problem, object, kernel_symbol(spec));
    const TimingOperands operands(problem, rows);
    int ties = 0;
    for (int time = 0; time < times; time++) {
        ties += is_tie(first.kernel(), second.kernel(), operands, static_cast<uint64_t>(time));
    }
    return ties;
}

}  // namespace
}  // namespace normforge

int main(int argc, char **argv) {
    if (argc != 4) {
        std::fprintf(stderr, "Usage: tie_count HIDDEN ROWS TIMES\n");
        return 2;
    }
    const int times = std::atoi(argv[3]);
    const int ties = normforge::count_ties(std::atoll(argv[1]), std::atoll(argv[2]), times);
    std::printf("layer_norm f32 hidden=%s rows=%s: %d ties of %d\n", argv[1], argv[2], ties, times);
    return ties * 100 >= times * 95 ? 0 : 1;
}
