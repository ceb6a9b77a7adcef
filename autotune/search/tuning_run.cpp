#include "autotune/search/tuning_run.h"

#include <algorithm>
#include <optional>

#include "autotune/measure/timing.h"
#include "autotune/search/crossovers.h"
#include "autotune/search/session_clock.h"
#include "autotune/search/session_kernels.h"
#include "autotune/search/strategy.h"
#include "autotune/search/survivors.h"
#include "autotune/search/trial_field.h"
#include "schedules/space.h"

namespace normforge {

namespace {

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

// What all schedules get, and then those that are still in it. Each of these rounds has its kernels and operands
// elsewhere in memory, so that a lucky place is not taken for speed: the last three are of the same schedules.
constexpr Blocks kFirstBlocks{3, 2};
struct Round {
    size_t digests;
    size_t per_digest;
    Blocks blocks;  // with those of the rounds before
};
constexpr Round kRounds[] = {{4, 3, {10, 5}}, {2, 2, {18, 8}}, {2, 2, {26, 12}}, {2, 2, {33, 15}}};

class TuningRun {
public:
    TuningRun(const TuneRequest &request, int64_t session, Database &database, Progress &progress)
        : request_(request), progress_(progress), reference_(to_text(heuristic(request.problem, request.target))),
          field_(database, session), kernels_(request, reference_, field_, progress), clock_(request.deadline) {
        make_operands();
    }

    TuneReport run() {
        search();
        for (const Round &round : kRounds) {
            if (clock_.is_over()) {
                break;
            }
            make_operands();
            time(still_in(round), round.blocks, true, [&] { return clock_.is_over(); });
        }
        operands_.clear();
        time_crossovers(request_, reference_, field_, kernels_, clock_, progress_);
        stop_if_interrupted();
        TuneReport report{};
        report.selection = select_best(field_.trials(), reference_);
        for (const Trial &trial : field_.trials()) {
            report.trials[trial.status]++;
        }
        report.cut = clock_.was_late() ? "the budget was used up" : "";
        return report;
    }

private:
    void make_operands() {
        operands_.clear();
        for (int64_t rows : request_.rows) {
            operands_.emplace_back(request_.problem, rows);
        }
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
        } while (!batch.empty() && !clock_.is_over_for_search());
    }

    void try_batch(const std::vector<Knobs> &batch) {
        const bool is_first = field_.trials().empty();
        std::vector<std::string> schedules;
        for (const Knobs &knobs : batch) {
            schedules.push_back(to_text(knobs));
        }
        kernels_.try_schedules(schedules, [&] { return clock_.is_over_for_search(); });
        const std::vector<size_t> places = field_.timed_places(schedules, request_.rows, reference_);
        // With the least budget there is something to decide by.
        time(places, kFirstBlocks, false,
             [&] { return is_first ? is_interrupted() : clock_.is_over_for_search(); });
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

    bool is_requested(int64_t rows) const { return std::ranges::find(request_.rows, rows) != request_.rows.end(); }

    void time(std::vector<size_t> places, const Blocks &blocks, bool elsewhere,
              const std::function<bool()> &stop) {
        const auto lacking = [&](size_t place) {
            const Trial &trial = field_.trials()[place];
            const auto wanted = static_cast<size_t>(blocks.at(request_.problem, trial.rows));
            return trial.status == TrialStatus::ok ? wanted - std::min(wanted, trial.samples.size()) : 0;
        };
        std::erase_if(places, [&](size_t place) { return lacking(place) == 0; });
        if (places.empty()) {
            return;
        }
        kernels_.complete(places);
        if (elsewhere) {
            field_.move_kernels(places, reference_);
        }
        size_t samples = 0;
        for (size_t place : places) {
            samples += lacking(place);
        }
        progress_.stage("timing", samples);
        for (const TimingOperands &operands : operands_) {
            field_.time(places, blocks.at(request_.problem, operands.arguments().rows), reference_, operands,
                        request_.seed, stop, progress_);
        }
    }

    const TuneRequest &request_;
    Progress &progress_;
    const std::string reference_;
    TrialField field_;
    CpuSessionKernels kernels_;
    SessionClock clock_;
    std::vector<TimingOperands> operands_;
};

}  // namespace

TuneReport run_session(const TuneRequest &request, int64_t session, Database &database, Progress &progress) {
    return TuningRun(request, session, database, progress).run();
}

}  // namespace normforge
