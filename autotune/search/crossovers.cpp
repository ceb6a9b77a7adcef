#include "autotune/search/crossovers.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "autotune/measure/timing.h"

namespace normforge {

namespace {

constexpr int kBlocks = 15;
constexpr int kHalvings = 4;

class Crossovers {
public:
    Crossovers(const TuneRequest &request, const std::string &reference, TrialField &field,
               SessionKernels &kernels, SessionClock &clock, Progress &progress)
        : request_(request), reference_(reference), field_(field), kernels_(kernels), clock_(clock),
          progress_(progress) {}

    void find() {
        finish();
        for (int step = 0; step < kHalvings && !clock_.is_over(); step++) {
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

private:
    // Those that a resumed session had begun.
    void finish() {
        std::map<int64_t, std::vector<size_t>> begun;
        const auto [least, most] = std::ranges::minmax(request_.rows);
        for (size_t place = 0; place < field_.trials().size(); place++) {
            const Trial &trial = field_.trials()[place];
            const bool is_requested = std::ranges::find(request_.rows, trial.rows) != request_.rows.end();
            if (trial.status == TrialStatus::ok && !is_requested && trial.rows > least && trial.rows < most) {
                begun[trial.rows].push_back(place);
            }
        }
        for (const auto &[rows, places] : begun) {
            time(places, rows);
        }
    }

    void time_between(const Choice &few, const Choice &many, int64_t rows) {
        std::vector<size_t> places;
        for (const Choice &choice : {few, many}) {
            Trial trial = field_.trials()[field_.place_of(choice.knobs, choice.rows)];
            trial.samples.clear();
            field_.add(trial, {rows});
            places.push_back(field_.place_of(choice.knobs, rows));
        }
        time(places, rows);
    }

    void time(const std::vector<size_t> &places, int64_t rows) {
        kernels_.complete(places);
        progress_.stage("finding the crossover", places.size() * kBlocks);
        field_.time(
            places, kBlocks, reference_, TimingOperands(request_.problem, rows), request_.seed,
            [&] { return clock_.is_over(); }, progress_);
    }

    const TuneRequest &request_;
    const std::string &reference_;
    TrialField &field_;
    SessionKernels &kernels_;
    SessionClock &clock_;
    Progress &progress_;
};

}  // namespace

void time_crossovers(const TuneRequest &request, const std::string &reference, TrialField &field,
                     SessionKernels &kernels, SessionClock &clock, Progress &progress) {
    Crossovers(request, reference, field, kernels, clock, progress).find();
}

}  // namespace normforge
