#include <algorithm>
#include <iterator>
#include <memory>

#include "autotune/base/hardware.h"
#include "autotune/base/robust_stats.h"
#include "autotune/base/units.h"
#include "autotune/cli/commands.h"
#include "autotune/cli/copy_kernel.h"
#include "autotune/cli/json_forms.h"
#include "autotune/cli/options.h"
#include "autotune/cli/problem_options.h"
#include "autotune/cli/standard_streams.h"
#include "autotune/measure/contest.h"
#include "autotune/measure/loaded_kernel.h"
#include "autotune/search/resolver.h"
#include "schedules/target.h"

namespace normforge {

namespace {

constexpr int kBlocks = 31;
constexpr double kSampleNanoseconds = 500e3;

struct BenchOptions {
    explicit BenchOptions(CLI::App &command)
        : problems(command, ProblemOptions::Count::several), rows(command, "Numbers of rows to time"),
          db(command) {
        add_flag(command, "--json", json, kJsonHelp);
        add_flag(command, "--quiet", quiet, kQuietNoteHelp);
    }

    ProblemOptions problems;
    RowsOption rows;
    DatabaseOption db;
    bool json = false;
    bool quiet = false;
};

struct Figures {
    double ns;
    double heuristic_ns;
    double copy_ns;
    double ratio;  // to the heuristic, of paired samples
};

Figures measure(const NormProblem &problem, const nf_kernel &kernel, const nf_kernel &heuristic,
                const TimingOperands &operands) {
    const SingleKernel copy(problem, copy_entry(problem));
    Contest contest{&heuristic, {&kernel, &copy.kernel()}, &operands, 0, kBlocks, kSampleNanoseconds, 1};
    contest.moves_all_rows = false;  // a copy does not
    std::vector<double> ns[2], reference_ns, ratios;
    run_contest(contest, {.sample =
                              [&](size_t contender, const Sample &sample) {
                                  ns[contender].push_back(sample.ns);
                                  if (contender == 0) {
                                      reference_ns.push_back(sample.reference_ns);
                                      ratios.push_back(sample.ns / sample.reference_ns);
                                  }
                              },
                          .out = [](size_t, TrialStatus, const std::string &reason) { throw UserError(reason); },
                          .tell = note});
    return {median(ns[0]), median(reference_ns), median(ns[1]), median(ratios)};
}

void bench(const BenchOptions &options) {
    const std::vector<ProblemRows> timed = options.problems.problems_with_rows(options.rows, detect_hardware());
    std::vector<NormProblem> problems;
    std::ranges::transform(timed, std::back_inserter(problems), &ProblemRows::problem);
    const Halide::Target target = kernel_target("host");
    const std::optional<Database> database = options.db.open_read_only(options.quiet);
    const std::vector<ResolvedKernel> tuned = resolve(problems, {target}, known_databases(database));
    const std::vector<ResolvedKernel> untuned = resolve(problems, {target}, {});
    Json all = Json::array();
    for (size_t index = 0; index < problems.size(); index++) {
        const NormProblem &problem = problems[index];
        for (const int64_t row_count : timed[index].rows) {
            const ResolvedVariant &reference = variant_for(untuned[index], row_count);
            const LoadedKernel heuristic_kernel(problem, reference.object,
                                                kernel_symbol(std::get<KernelSpec>(reference.spec)));
            const ResolvedVariant &variant = variant_for(tuned[index], row_count);
            const LoadedKernel kernel(problem, variant.object, kernel_symbol(std::get<KernelSpec>(variant.spec)));
            const TimingOperands operands(problem, row_count);
            const Figures figures = measure(problem, kernel.kernel(), heuristic_kernel.kernel(), operands);
            const double bytes = static_cast<double>(row_bytes(problem) * row_count);
            const double copied = copied_bytes(problem, row_count);
            if (options.json) {
                Json json = json_of(problem);
                json.update({{"rows", row_count},
                             {"source", tuned[index].source},
                             {"knobs", knobs_text(variant.spec)},
                             {"ns_per_row", figures.ns / static_cast<double>(row_count)},
                             {"gb_per_s", bytes / figures.ns},
                             {"heuristic_ns_per_row", figures.heuristic_ns / static_cast<double>(row_count)},
                             {"ratio_to_heuristic", figures.ratio},
                             {"copy_gb_per_s", copied / figures.copy_ns}});
                all.push_back(json);
            } else {
                print("{} rows={}\n  {} a row, {:.1f} GB/s; heuristic {:.1f} GB/s ({:.2f}x); memcpy "
                      "{:.1f} GB/s\n  {} ({})\n",
                      to_text(problem), row_count, time_text(figures.ns / static_cast<double>(row_count)),
                      bytes / figures.ns, bytes / figures.heuristic_ns, 1 / figures.ratio,
                      copied / figures.copy_ns, knobs_text(variant.spec), tuned[index].source);
            }
        }
    }
    if (options.json) {
        print_json(all);
    }
}

}  // namespace

void add_bench_command(CLI::App &program, Run &run) {
    CLI::App &command = *program.add_subcommand(
        "bench", "Time what build would use against the heuristic and memcpy, on one core");
    command.footer("Examples:\n"
                   "  normforge bench --op rms_norm --hidden 4096\n"
                   "  normforge bench --op layer_norm --hidden 384,576 --rows 1,64 --json");
    auto options = std::make_shared<BenchOptions>(command);
    command.callback([options, &run] { run = [options] { bench(*options); }; });
}

}  // namespace normforge
