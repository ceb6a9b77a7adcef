#include "autotune/search/static_ranking.h"

#include <fmt/format.h>

#include <chrono>
#include <limits>

#include "autotune/search/compiled_trial.h"
#include "autotune/search/generator_version.h"
#include "autotune/search/gpu_candidates.h"
#include "autotune/search/simulate_all.h"
#include "autotune/search/strategy.h"
#include "runtime/user_error.h"
#include "schedules/space.h"
#include "schedules/target.h"

namespace normforge {

namespace {

using Clock = std::chrono::steady_clock;

// Without rows and samples.
Trial ungated_trial(const AnyKernelSpec &spec, const CompiledKernel &compiled) {
    Trial trial = compiled_trial(spec, compiled);
    trial.error_ratio = std::numeric_limits<double>::quiet_NaN();
    if (compiled.status == TrialStatus::ok) {
        trial.output_digest = "unknown by " + arithmetic_text(spec);
    }
    return trial;
}

// One for each spec and number of rows, the reference's first.
std::vector<Trial> simulated_trials(const std::vector<KernelSpec> &specs, const KnownCpu &cpu,
                                    const std::vector<int64_t> &rows, Progress &progress) {
    std::vector<SimulatedKernel> kernels(specs.size());
    progress.stage("compiling and simulating", specs.size());
    simulate_all(
        specs, cpu, rows, [&](const std::string &what) { progress.say(what); },
        [&](size_t index, SimulatedKernel kernel) {
            kernels[index] = std::move(kernel);
            progress.advance();
        });
    const std::vector<double> &reference = kernels.front().cycles;
    if (reference.empty()) {
        throw UserError("the heuristic's kernel cannot be simulated: " + kernels.front().failure);
    }
    std::vector<Trial> trials;
    for (size_t index = 0; index < specs.size(); index++) {
        const SimulatedKernel &kernel = kernels[index];
        Trial trial = ungated_trial(specs[index], kernel.compiled);
        if (trial.status == TrialStatus::ok && kernel.cycles.empty()) {
            trial.status = TrialStatus::compile_error;
            trial.message = "not simulated: " + kernel.failure;
        }
        for (size_t place = 0; place < rows.size(); place++) {
            trial.rows = rows[place];
            if (trial.status == TrialStatus::ok) {
                trial.samples = {{0, static_cast<int>(index), 1, kernel.cycles[place], reference[place]}};
            }
            trials.push_back(trial);
        }
    }
    return trials;
}

// How many schedules are worth compiling, where the model has judged all of them before.
size_t most_gpu_candidates(Effort effort) {
    constexpr size_t kQuick = 4;
    return effort == Effort::quick ? kQuick : most_candidates(effort);
}

std::vector<Trial> estimated_trials(const TuneRequest &request, const GpuDevice &device, Progress &progress) {
    constexpr double kNanoseconds = 1e9;
    const std::vector<GpuKnobs> candidates = gpu_candidates(
        device, request.problem, request.rows, most_gpu_candidates(request.effort), GpuChoice::by_model);
    std::vector<AnyKernelSpec> specs;
    for (const GpuKnobs &knobs : candidates) {
        specs.push_back(kernel_spec(request.problem, to_text(knobs), request.target));
    }
    std::vector<Trial> compiled(specs.size());
    progress.stage("compiling", specs.size());
    compile_all(specs, [&](size_t index, const CompiledKernel &kernel) {
        compiled[index] = ungated_trial(specs[index], kernel);
        progress.advance();
    });
    std::vector<Trial> trials;
    for (size_t index = 0; index < candidates.size(); index++) {
        for (int64_t rows : request.rows) {
            const auto nanoseconds = [&](const GpuKnobs &knobs) {
                return kNanoseconds * estimate(device, request.problem, knobs, rows).seconds();
            };
            Trial &trial = trials.emplace_back(compiled[index]);
            trial.rows = rows;
            if (trial.status == TrialStatus::ok) {
                trial.samples = {{0, static_cast<int>(index), 1, nanoseconds(candidates[index]),
                                  nanoseconds(candidates.front())}};
            }
        }
    }
    return trials;
}

// The first trial is the reference's.
TuneReport stored(const TuneRequest &request, const Hardware &hardware, const std::vector<Trial> &trials,
                  Clock::time_point started, Database &database) {
    const std::string &reference = trials.front().knobs;
    const int64_t session =
        begin_session(request, session_key(request, hardware, reference, TimeSource::simulated), database);
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

}  // namespace

TuneReport rank_statically(const TuneRequest &request, const KnownCpu &cpu, Database &database,
                           Progress &progress) {
    require_rankable(request.problem, request.target, cpu);
    const Clock::time_point started = Clock::now();
    const std::vector<KernelSpec> specs =
        first_candidates(request.problem, request.target, request.effort, request.seed, request.known);
    const std::vector<Trial> trials = simulated_trials(specs, cpu, request.rows, progress);
    return stored(request, hardware_of(cpu), trials, started, database);
}

TuneReport rank_statically(const TuneRequest &request, const GpuDevice &device, Database &database,
                           Progress &progress) {
    const Clock::time_point started = Clock::now();
    const std::vector<Trial> trials = estimated_trials(request, device, progress);
    return stored(request, hardware_of(device), trials, started, database);
}

void require_rankable(const NormProblem &problem, const Halide::Target &target, const KnownCpu &cpu) {
    if (problem.pass != NF_FORWARD) {
        throw UserError(to_text(problem) +
                        " cannot be ranked by the static model of CPUs, which is for forward passes");
    }
    const uint64_t missing = needed_cpu_features(target) & ~hardware_of(cpu).features;
    if (missing != 0) {
        throw UserError(fmt::format("target {} cannot be ranked for {}, which lacks {}; give one such as {}",
                                    target_name(target), cpu.name, feature_names(missing), cpu.target));
    }
}

}  // namespace normforge
