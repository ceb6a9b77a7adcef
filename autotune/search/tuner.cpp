#include "autotune/search/tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "autotune/base/code_hash.h"
#include "autotune/base/content_hash.h"
#include "autotune/measure/accuracy_gate.h"
#include "autotune/measure/child_process.h"
#include "autotune/measure/contest.h"
#include "autotune/measure/loaded_kernel.h"
#include "autotune/measure/timing.h"
#include "autotune/search/compile_pool.h"
#include "autotune/search/generator_version.h"
#include "autotune/search/survivors.h"
#include "generators/codegen.h"
#include "generators/emit.h"
#include "runtime/cpu_features.h"
#include "runtime/user_error.h"
#include "schedules/space.h"
#include "schedules/target.h"

namespace normforge {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kGateLimit{10000};
// Long enough for the clock, short enough to fit between most interruptions.
constexpr double kSampleNanoseconds = 250e3;

// A round of timing: who takes part, and for how long.
struct Round {
    size_t digests;
    size_t per_digest;
    int blocks;
};
constexpr Round kRounds[] = {{SIZE_MAX, SIZE_MAX, 3}, {6, 3, 7}, {3, 2, 25}};
constexpr int kCrossoverBlocks = 15;

struct Candidate {
    KernelSpec spec;
    Trial trial;  // of no number of rows yet
    std::optional<LoadedKernel> kernel;
};

// The candidates that are timed: a trial for each and every number of rows.
struct Field {
    std::vector<Trial> trials;
    std::vector<int64_t> trial_ids;
    std::vector<const nf_kernel *> kernels;

    size_t place_of(const Choice &choice) const {
        const auto found = std::ranges::find_if(
            trials, [&](const Trial &trial) { return trial.rows == choice.rows && trial.knobs == choice.knobs; });
        return static_cast<size_t>(found - trials.begin());
    }
};

std::vector<Candidate> compile(const TuneRequest &request, Progress &progress) {
    std::vector<KernelSpec> specs;
    for (const Knobs &knobs :
         candidates(request.problem, request.target, request.effort, request.seed, request.known)) {
        specs.push_back({request.problem, knobs, request.target});
    }
    std::vector<Candidate> result(specs.size());
    progress.stage("compiling", specs.size());
    compile_all(specs, [&](size_t index, CompiledKernel compiled) {
        Candidate &candidate = result[index];
        candidate.spec = specs[index];
        candidate.trial.knobs = to_text(specs[index].knobs);
        candidate.trial.status = compiled.status;
        candidate.trial.message = compiled.message;
        candidate.trial.compile_ms = compiled.milliseconds;
        candidate.trial.code_bytes = static_cast<int64_t>(compiled.object.size());
        candidate.trial.object_hash = content_hash(std::as_bytes(std::span(compiled.object)));
        if (compiled.status == TrialStatus::ok) {
            candidate.trial.code_hash = code_hash(compiled.object);
            candidate.kernel.emplace(request.problem, compiled.object, kernel_symbol(specs[index]));
        }
        progress.advance();
    });
    return result;
}

// The gate's child sends the error ratio, the digest and the failure, each as a message.
void check_accuracy(const AccuracyGate &gate, Candidate &candidate) {
    ChildProcess child([&](const ChildProcess::Send &send) {
        const AccuracyGate::Result result = gate.check(candidate.kernel->kernel());
        send(fmt::format("{}", result.error_ratio));
        send(result.output_digest);
        send(result.failure);
    });
    const std::optional<std::string> ratio = child.read(kGateLimit);
    const std::optional<std::string> digest = child.read(kGateLimit);
    const std::optional<std::string> failure = child.read(kGateLimit);
    Trial &trial = candidate.trial;
    if (failure) {
        trial.error_ratio = std::stod(*ratio);
        trial.output_digest = *digest;
        trial.message = *failure;
        trial.status = failure->empty() ? TrialStatus::ok : TrialStatus::wrong;
    } else {
        const bool hung = child.outcome() == ChildProcess::Outcome::timed_out;
        trial.status = hung ? TrialStatus::timeout : TrialStatus::crash;
        trial.message = "in the accuracy gate: " + child.reason();
    }
}

// Times those of the places that are of one number of rows.
void time_rows(Field &field, const std::vector<size_t> &places, const TimingOperands &operands, Contest contest,
               Database &database, Progress &progress) {
    std::vector<size_t> own;
    std::vector<size_t> stored;
    for (size_t place : places) {
        if (field.trials[place].rows == operands.arguments().rows) {
            own.push_back(place);
            stored.push_back(field.trials[place].samples.size());
            contest.contenders.push_back(field.kernels[place]);
        }
    }
    contest.operands = &operands;
    double best = 1;
    run_contest(contest, {.sample =
                              [&](size_t contender, const Sample &sample) {
                                  Trial &trial = field.trials[own[contender]];
                                  trial.samples.push_back(sample);
                                  best = std::min(best, median_ratio(trial));
                                  progress.advance(fmt::format("{:.2f}x the heuristic", 1 / best));
                              },
                          .out =
                              [&](size_t contender, TrialStatus status, const std::string &reason) {
                                  Trial &trial = field.trials[own[contender]];
                                  trial.status = status;
                                  trial.message = "while it was timed: " + reason;
                                  database.fail_trial(field.trial_ids[own[contender]], status, trial.message);
                              }});
    for (size_t contender = 0; contender < own.size(); contender++) {
        const std::vector<Sample> &samples = field.trials[own[contender]].samples;
        database.add_samples(field.trial_ids[own[contender]],
                             {samples.begin() + stored[contender], samples.end()});
    }
}

// Where one schedule is best for few rows and another for many, the number of rows between them from which the
// other one is: halved in ratio, so many times.
constexpr int kCrossoverSteps = 4;

void find_crossovers(Field &field, const TuneRequest &request, const nf_kernel &reference,
                     const std::string &reference_knobs, int64_t session, Database &database, Progress &progress) {
    for (int step = 0; step < kCrossoverSteps; step++) {
        const Selection selection = select_best(field.trials, reference_knobs);
        for (size_t next = 1; next < selection.choices.size(); next++) {
            const Choice &few = selection.choices[next - 1];
            const Choice &many = selection.choices[next];
            const auto rows = static_cast<int64_t>(
                std::llround(std::sqrt(static_cast<double>(few.rows) * static_cast<double>(many.rows))));
            if (few.knobs == many.knobs || rows <= few.rows || rows >= many.rows) {
                continue;
            }
            std::vector<size_t> places;
            for (const Choice &choice : {few, many}) {
                const size_t place = field.place_of(choice);
                Trial trial = field.trials[place];
                trial.rows = rows;
                trial.samples.clear();
                places.push_back(field.trials.size());
                field.trial_ids.push_back(database.add_trial(session, trial));
                field.trials.push_back(std::move(trial));
                field.kernels.push_back(field.kernels[place]);
            }
            progress.stage("finding the crossover", places.size() * kCrossoverBlocks);
            const Contest contest{&reference, {}, nullptr, 0, kCrossoverBlocks, kSampleNanoseconds, request.seed};
            time_rows(field, places, TimingOperands(request.problem, rows), contest, database, progress);
        }
    }
}

void time_all(Field &field, const TuneRequest &request, const nf_kernel &reference,
              const std::string &reference_knobs, const std::vector<TimingOperands> &operands, Database &database,
              Progress &progress) {
    int first_block = 0;
    for (const Round &round : kRounds) {
        const std::vector<size_t> places =
            survivors(field.trials, round.digests, round.per_digest, reference_knobs);
        progress.stage("timing", places.size() * static_cast<size_t>(round.blocks));
        for (const TimingOperands &rows : operands) {
            Contest contest{&reference, {}, nullptr, first_block, round.blocks, kSampleNanoseconds, request.seed};
            time_rows(field, places, rows, contest, database, progress);
        }
        first_block += round.blocks;
    }
}

}  // namespace

TuneReport tune(const TuneRequest &request, Database &database, Progress &progress) {
    require_runnable(request.target);
    const Clock::time_point started = Clock::now();
    std::vector<TimingOperands> operands;  // first, since they may not fit the memory
    for (int64_t rows : request.rows) {
        operands.emplace_back(request.problem, rows);
    }
    const int64_t session =
        database.begin_session({request.problem, detect_hardware(), current_toolchain(), current_generator(),
                                target_name(request.target), to_text(heuristic(request.problem, request.target))},
                               static_cast<int64_t>(request.seed), std::string(name_of(kEfforts, request.effort)));
    TuneReport report{};
    try {
        std::vector<Candidate> candidates = compile(request, progress);
        const AccuracyGate gate(request.problem);
        progress.stage("checking accuracy", candidates.size());
        Field field;
        for (Candidate &candidate : candidates) {
            if (candidate.kernel) {
                check_accuracy(gate, candidate);
            }
            for (int64_t rows : request.rows) {
                field.trials.push_back(candidate.trial);
                field.trials.back().rows = rows;
                field.trial_ids.push_back(database.add_trial(session, field.trials.back()));
                field.kernels.push_back(candidate.kernel ? &candidate.kernel->kernel() : nullptr);
            }
            progress.advance();
        }
        const Candidate &reference = candidates.front();
        if (reference.trial.status != TrialStatus::ok) {
            throw std::runtime_error("the heuristic's kernel for " + to_text(request.problem) +
                                     " is unusable: " + reference.trial.message);
        }
        time_all(field, request, reference.kernel->kernel(), reference.trial.knobs, operands, database, progress);
        operands.clear();
        find_crossovers(field, request, reference.kernel->kernel(), reference.trial.knobs, session, database,
                        progress);
        report.selection = select_best(field.trials, reference.trial.knobs);
        for (const Trial &trial : field.trials) {
            report.trials[trial.status]++;
        }
    } catch (...) {
        database.end_session(session, SessionState::aborted, std::nullopt);
        throw;
    }
    database.end_session(session, SessionState::done, report.selection.noise);
    report.seconds = std::chrono::duration<double>(Clock::now() - started).count();
    return report;
}

void require_runnable(const Halide::Target &target) {
    const uint64_t missing = needed_cpu_features(target) & ~cpu_features();
    if (missing != 0) {
        throw UserError("target " + target_name(target) + " cannot be tuned here: this CPU lacks " +
                        feature_names(missing));
    }
}

Toolchain current_toolchain() {
    return {fmt::format("{}.{}.{}", HALIDE_VERSION_MAJOR, HALIDE_VERSION_MINOR, HALIDE_VERSION_PATCH),
            llvm_version(), nf_version()};
}

}  // namespace normforge
