#include "autotune/search/static_ranking.h"

#include <fmt/format.h>

#include <chrono>
#include <limits>

#include "autotune/model/simulate_all.h"
#include "autotune/search/compiled_trial.h"
#include "autotune/search/generator_version.h"
#include "autotune/search/strategy.h"
#include "runtime/user_error.h"
#include "schedules/space.h"
#include "schedules/target.h"

namespace normforge {

namespace {

using Clock = std::chrono::steady_clock;

// Without rows and samples.
std::vector<Trial> compiled_trials(const std::vector<KernelSpec> &specs, Progress &progress) {
    std::vector<Trial> trials(specs.size());
    progress.stage("compiling", specs.size());
    compile_all(specs, [&](size_t index, const CompiledKernel &compiled) {
        Trial &trial = trials[index];
        trial = compiled_trial(specs[index], compiled);
        trial.error_ratio = std::numeric_limits<double>::quiet_NaN();
        if (compiled.status == TrialStatus::ok) {
            trial.output_digest = "unknown by " + arithmetic_text(specs[index].knobs);
        }
        progress.advance();
    });
    return trials;
}

// One for each spec and number of rows, the reference's first.
std::vector<Trial> simulated_trials(const std::vector<KernelSpec> &specs, const KnownCpu &cpu,
                                    const std::vector<int64_t> &rows, Progress &progress) {
    const std::vector<Trial> compiled = compiled_trials(specs, progress);
    std::vector<Trial> trials;
    std::vector<double> reference;
    progress.stage("simulating", specs.size());
    simulate_all(specs, cpu, rows, [&](size_t index, const SimulatedKernel &simulated) {
        if (index == 0) {
            if (simulated.cycles.empty()) {
                throw UserError("the heuristic's kernel cannot be simulated: " + simulated.failure);
            }
            reference = simulated.cycles;
        }
        for (size_t place = 0; place < rows.size(); place++) {
            Trial &trial = trials.emplace_back(compiled[index]);
            trial.rows = rows[place];
            if (trial.status == TrialStatus::ok && simulated.cycles.empty()) {
                trial.status = TrialStatus::compile_error;
                trial.message = "not simulated: " + simulated.failure;
            } else if (trial.status == TrialStatus::ok) {
                trial.samples = {{0, static_cast<int>(index), 1, simulated.cycles[place], reference[place]}};
            }
        }
        progress.advance();
    });
    return trials;
}

}  // namespace

TuneReport rank_statically(const TuneRequest &request, const KnownCpu &cpu, Database &database,
                           Progress &progress) {
    require_rankable(request.problem, request.target, cpu);
    const Clock::time_point started = Clock::now();
    const std::vector<KernelSpec> specs =
        first_candidates(request.problem, request.target, request.effort, request.seed, request.known);
    const std::vector<Trial> trials = simulated_trials(specs, cpu, request.rows, progress);
    const std::string reference = to_text(specs.front().knobs);
    const int64_t session =
        begin_session(request, session_key(request, hardware_of(cpu), reference, TimeSource::simulated), database);
    TuneReport report{};
    for (const Trial &trial : trials) {
        database.add_trial(session, trial);
        report.trials[trial.status]++;
    }
    report.selection = select_best(trials, reference);
    database.end_session(session, SessionState::done, std::nullopt);
    report.seconds = std::chrono::duration<double>(Clock::now() - started).count();
    return report;
}

void require_rankable(const NormProblem &problem, const Halide::Target &target, const KnownCpu &cpu) {
    if (problem.pass != NF_FORWARD) {
        throw UserError(to_text(problem) + " cannot be ranked by the static model, which is for forward passes");
    }
    const uint64_t missing = needed_cpu_features(target) & ~hardware_of(cpu).features;
    if (missing != 0) {
        throw UserError(fmt::format("target {} cannot be ranked for {}, which lacks {}; give one such as {}",
                                    target_name(target), cpu.name, feature_names(missing), cpu.target));
    }
}

}  // namespace normforge
