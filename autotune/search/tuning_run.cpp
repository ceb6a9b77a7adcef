#include "autotune/search/tuning_run.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "autotune/base/interruption.h"
#include "autotune/measure/accuracy_gate.h"
#include "autotune/measure/timing.h"
#include "autotune/search/strategy.h"
#include "autotune/search/survivors.h"
#include "autotune/search/trial_field.h"
#include "schedules/space.h"

namespace normforge {

namespace {

using Clock = std::chrono::steady_clock;

// Where a call moves more than this, fewer samples of it must do.
constexpr int64_t kLongCallBytes = int64_t{8} << 20;

// A number of samples that trials are given.
struct Blocks {
    int usual;
    int of_long_calls;

    int at(const NormProblem &problem, int64_t rows) const {
        return row_bytes(problem) * rows > kLongCallBytes ? of_long_calls : usual;
    }
};

// What all schedules get, and then those that are still in it.
constexpr Blocks kFirstBlocks{3, 2};
struct Round {
    size_t digests;
    size_t per_digest;
    Blocks blocks;  // with those of the rounds before
};
constexpr Round kRounds[] = {{4, 3, {10, 5}}, {2, 2, {33, 15}}};
constexpr int kCrossoverBlocks = 15;

// Where one schedule is best for few rows and another for many, the number of rows between them from which the
// other one is: halved in ratio, so many times.
constexpr int kCrossoverSteps = 4;

// Of the time to the deadline, what the search may take; the rest is for the last rounds.
constexpr double kSearchShare = 0.6;

class TuningRun {
public:
    TuningRun(const TuneRequest &request, int64_t session, Database &database, Progress &progress)
        : request_(request), progress_(progress), gate_(request.problem),
          reference_(to_text(heuristic(request.problem, request.target))), field_(database, session),
          search_deadline_(share_of_deadline()) {
        for (int64_t rows : request.rows) {
            operands_.emplace_back(request.problem, rows);
        }
    }

    TuneReport run() {
        search();
        for (const Round &round : kRounds) {
            if (is_over(request_.deadline)) {
                break;
            }
            time(still_in(round), round.blocks, request_.deadline);
        }
        operands_.clear();
        find_crossovers();
        stop_if_interrupted();
        TuneReport report{};
        report.selection = select_best(field_.trials(), reference_);
        for (const Trial &trial : field_.trials()) {
            report.trials[trial.status]++;
        }
        report.cut = cut_ ? "the budget was used up" : "";
        return report;
    }

private:
    using Deadline = std::optional<Clock::time_point>;

    Deadline share_of_deadline() const {
        const Clock::time_point now = Clock::now();
        return request_.deadline ? Deadline(now + std::chrono::duration_cast<Clock::duration>(
                                                      (*request_.deadline - now) * kSearchShare))
                                 : Deadline();
    }

    bool is_over(const Deadline &deadline) {
        const bool late = deadline && Clock::now() >= *deadline;
        cut_ = cut_ || late;
        return late || is_interrupted();
    }

    void search() {
        Strategy strategy(candidates(request_.problem, request_.target, request_.seed, request_.known),
                          request_.effort, request_.seed);
        std::vector<Knobs> batch = strategy.propose();
        do {
            try_batch(batch);
            for (const Knobs &knobs : batch) {
                strategy.tell(knobs, first_ratios(to_text(knobs)));
            }
            batch = strategy.propose();
        } while (!batch.empty() && !is_over(search_deadline_));
    }

    void try_batch(const std::vector<Knobs> &batch) {
        std::vector<KernelSpec> specs;
        for (const Knobs &knobs : batch) {
            if (!complete(to_text(knobs))) {
                specs.push_back({request_.problem, knobs, request_.target});
            }
        }
        const bool is_first = field_.trials().empty();
        compile(specs, search_deadline_, [&](const GatedKernel &kernel) { add(kernel); });
        stop_if_interrupted();
        std::vector<size_t> places;
        for (const Knobs &knobs : batch) {
            for (int64_t rows : request_.rows) {
                const size_t place = field_.place_of(to_text(knobs), rows);
                // The reference is timed against itself, whichever of equal kernels was there first.
                if (place != TrialField::kNone &&
                    (to_text(knobs) == reference_ || field_.twin(field_.trials()[place]).empty())) {
                    places.push_back(place);
                }
            }
        }
        // With the least budget there is something to decide by.
        time(places, kFirstBlocks, is_first ? std::nullopt : search_deadline_);
    }

    // Whether there were trials of the knobs. A killed process may have stored them for some numbers of rows
    // alone; then they get the others.
    bool complete(const std::string &knobs) {
        std::optional<Trial> known;
        for (int64_t rows : request_.rows) {
            if (const size_t place = field_.place_of(knobs, rows); place != TrialField::kNone) {
                known = field_.trials()[place];
                known->samples.clear();
            }
        }
        if (known) {
            field_.add(*known, request_.rows);
        }
        return known.has_value();
    }

    void compile(const std::vector<KernelSpec> &specs, const Deadline &deadline,
                 const std::function<void(const GatedKernel &)> &done) {
        if (specs.empty()) {
            return;
        }
        progress_.stage("compiling and checking", specs.size());
        gate_kernels(specs, gate_, request_.emit,
                     {.stop = [&] { return is_over(deadline); },
                      .tell = [&](const std::string &what) { progress_.say(what); },
                      .done =
                          [&](const GatedKernel &kernel) {
                              done(kernel);
                              progress_.advance();
                          }});
    }

    void add(const GatedKernel &kernel) {
        if (kernel.trial.status == TrialStatus::ok) {
            load(kernel);
        }
        field_.add(kernel.trial, request_.rows);
        if (kernel.trial.knobs == reference_ && kernel.trial.status != TrialStatus::ok) {
            throw_unusable_reference(kernel.trial);
        }
    }

    [[noreturn]] void throw_unusable_reference(const Trial &trial) const {
        throw std::runtime_error("the heuristic's kernel for " + to_text(request_.problem) +
                                 " is unusable: " + trial.message);
    }

    void load(const GatedKernel &kernel) {
        const KernelSpec spec{request_.problem, parse_knobs(kernel.trial.knobs), request_.target};
        field_.set_kernel(kernel.trial.knobs,
                          std::make_unique<LoadedKernel>(request_.problem, kernel.object, kernel_symbol(spec)));
    }

    // What the first round says of a schedule, at every number of rows.
    std::optional<std::vector<double>> first_ratios(const std::string &knobs) const {
        std::vector<double> ratios;
        for (int64_t rows : request_.rows) {
            size_t place = field_.place_of(knobs, rows);
            if (place == TrialField::kNone) {
                return std::nullopt;
            }
            if (const std::string same = field_.twin(field_.trials()[place]); !same.empty()) {
                place = field_.place_of(same, rows);
            }
            Trial trial = field_.trials()[place];
            const auto blocks = static_cast<size_t>(kFirstBlocks.at(request_.problem, rows));
            if (trial.status != TrialStatus::ok || trial.samples.size() < blocks) {
                return std::nullopt;
            }
            trial.samples.resize(blocks);
            ratios.push_back(median_ratio(trial));
        }
        return ratios;
    }

    std::vector<size_t> still_in(const Round &round) const {
        std::vector<Trial> asked_for;
        std::vector<size_t> places;
        for (size_t place = 0; place < field_.trials().size(); place++) {
            if (is_requested(field_.trials()[place].rows)) {
                asked_for.push_back(field_.trials()[place]);
                places.push_back(place);
            }
        }
        std::vector<size_t> result;
        for (size_t index : survivors(asked_for, round.digests, round.per_digest, reference_)) {
            result.push_back(places[index]);
        }
        return result;
    }

    // The kernels of these and of the reference, of which a resumed session has only the trials.
    void compile_missing(const std::vector<size_t> &places) {
        std::set<std::string> missing = {reference_};
        for (size_t place : places) {
            missing.insert(field_.trials()[place].knobs);
        }
        std::vector<KernelSpec> specs;
        for (const std::string &knobs : missing) {
            if (!field_.has_kernel(knobs)) {
                specs.push_back({request_.problem, parse_knobs(knobs), request_.target});
            }
        }
        compile(specs, std::nullopt, [&](const GatedKernel &kernel) {
            const std::string &knobs = kernel.trial.knobs;
            const size_t place = field_.place_of(knobs, request_.rows.front());
            const Trial &known = field_.trials().at(place);
            if (knobs == reference_ && known.status != TrialStatus::ok) {
                throw_unusable_reference(known);
            }
            if (kernel.trial.object_hash != known.object_hash) {
                throw std::logic_error("resumed session: another object for " + knobs);
            }
            load(kernel);
        });
        stop_if_interrupted();
    }

    void time(std::vector<size_t> places, const Blocks &blocks, const Deadline &deadline) {
        const auto lacking = [&](size_t place) {
            const Trial &trial = field_.trials()[place];
            const auto wanted = static_cast<size_t>(blocks.at(request_.problem, trial.rows));
            return trial.status == TrialStatus::ok ? wanted - std::min(wanted, trial.samples.size()) : 0;
        };
        std::erase_if(places, [&](size_t place) { return lacking(place) == 0; });
        if (places.empty()) {
            return;
        }
        compile_missing(places);
        size_t samples = 0;
        for (size_t place : places) {
            samples += lacking(place);
        }
        progress_.stage("timing", samples);
        for (const TimingOperands &operands : operands_) {
            field_.time(
                places, blocks.at(request_.problem, operands.arguments().rows), reference_, operands,
                request_.seed, [&] { return is_over(deadline); }, progress_);
        }
    }

    void find_crossovers() {
        finish_crossovers();
        for (int step = 0; step < kCrossoverSteps && !is_over(request_.deadline); step++) {
            const Selection selection = select_best(field_.trials(), reference_);
            for (size_t next = 1; next < selection.choices.size(); next++) {
                const Choice &few = selection.choices[next - 1];
                const Choice &many = selection.choices[next];
                const auto rows = static_cast<int64_t>(
                    std::llround(std::sqrt(static_cast<double>(few.rows) * static_cast<double>(many.rows))));
                if (few.knobs != many.knobs && rows > few.rows && rows < many.rows) {
                    time_between(few, many, rows);
                }
            }
        }
    }

    // Those that a resumed session had begun.
    void finish_crossovers() {
        std::map<int64_t, std::vector<size_t>> begun;
        const auto [least, most] = std::ranges::minmax(request_.rows);
        for (size_t place = 0; place < field_.trials().size(); place++) {
            const Trial &trial = field_.trials()[place];
            if (trial.status == TrialStatus::ok && !is_requested(trial.rows) && trial.rows > least &&
                trial.rows < most) {
                begun[trial.rows].push_back(place);
            }
        }
        for (const auto &[rows, places] : begun) {
            time_crossover(places, rows);
        }
    }

    bool is_requested(int64_t rows) const { return std::ranges::find(request_.rows, rows) != request_.rows.end(); }

    void time_between(const Choice &few, const Choice &many, int64_t rows) {
        std::vector<size_t> places;
        for (const Choice &choice : {few, many}) {
            Trial trial = field_.trials()[field_.place_of(choice.knobs, choice.rows)];
            trial.samples.clear();
            field_.add(trial, {rows});
            places.push_back(field_.place_of(choice.knobs, rows));
        }
        time_crossover(places, rows);
    }

    void time_crossover(const std::vector<size_t> &places, int64_t rows) {
        compile_missing(places);
        progress_.stage("finding the crossover", places.size() * kCrossoverBlocks);
        field_.time(
            places, kCrossoverBlocks, reference_, TimingOperands(request_.problem, rows), request_.seed,
            [&] { return is_over(request_.deadline); }, progress_);
    }

    const TuneRequest &request_;
    Progress &progress_;
    const AccuracyGate gate_;
    const std::string reference_;
    TrialField field_;
    std::vector<TimingOperands> operands_;
    const Deadline search_deadline_;
    bool cut_ = false;
};

}  // namespace

TuneReport run_session(const TuneRequest &request, int64_t session, Database &database, Progress &progress) {
    return TuningRun(request, session, database, progress).run();
}

}  // namespace normforge
