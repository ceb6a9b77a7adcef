#include "autotune/measure/contest.h"

#include <sched.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "autotune/base/hardware.h"
#include "autotune/base/usable_cpus.h"
#include "autotune/measure/contest_loop.h"
#include "autotune/measure/core_limits.h"
#include "autotune/measure/disturbances.h"

namespace normforge {

namespace {

void pin_to_one_cpu() {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(usable_cpus().back(), &cpus);
    sched_setaffinity(0, sizeof cpus, &cpus);  // unpinned, the ratios are noisier but still right
}

// Tells times of a call that no kernel can have.
class Plausibility {
public:
    Plausibility(const NormProblem &problem, int64_t rows) : problem_(problem), rows_(rows) { measure(); }

    bool allows(double ns) {
        if (ns < least_ns()) {
            measure();  // the core's clock may have risen
        }
        return ns >= least_ns();
    }

    double least_ns() const { return least_ns_; }

private:
    // Clocks of cores rise and fall by that much.
    static constexpr double kTolerance = 0.8;

    void measure() {
        const double least = kTolerance * least_nanoseconds(problem_, rows_, measure_core_limits());
        least_ns_ = std::min(least_ns_, least);
    }

    const NormProblem &problem_;
    const int64_t rows_;
    double least_ns_ = std::numeric_limits<double>::infinity();
};

// What others left in the caches is gone after so many calls, and code and branch history are there. After
// streaming stores a copy of 2 MiB took 2.8 and 1.04 of its time, one of 8 MiB 2.8, 1.6 and 1.1 (Zen 3).
constexpr int64_t kWarmingCalls = 2;

// Nothing of such rows is there from one call to the next. No rows are where the machine does not tell its caches.
bool are_beyond_caches(const NormProblem &problem, int64_t rows) {
    const Hardware hardware = detect_hardware();
    const int64_t largest = std::max(hardware.l2_bytes, hardware.l3_bytes);
    return largest > 0 && rows * row_bytes(problem) > largest;
}

// What a child times a contest with.
class CoreTimer {
public:
    explicit CoreTimer(const Contest &contest)
        : contest_(contest), arguments_(contest.operands->arguments()),
          calls_(calls_for(*contest.reference, arguments_, contest.sample_nanoseconds)),
          is_cold_(are_beyond_caches(contest.reference->problem, arguments_.rows)),
          plausibility_(contest.reference->problem, arguments_.rows) {}

    int64_t calls() const { return calls_; }

    double nanoseconds(size_t contender) const {
        const nf_kernel &kernel = contender == kReference ? *contest_.reference : *contest_.contenders[contender];
        if (!is_cold_) {
            time_calls(kernel, arguments_, kWarmingCalls);
        }
        return nanoseconds_of(kernel);
    }

    double least_of_impossible(double ns) {
        return contest_.moves_all_rows && !plausibility_.allows(ns) ? plausibility_.least_ns() : 0;
    }

private:
    double nanoseconds_of(const nf_kernel &kernel) const {
        double ns = 0;
        for (int take = 0; take <= contest_.retakes; take++) {
            const Disturbances disturbances;
            ns = time_calls(kernel, arguments_, calls_);
            if (!disturbances.are_felt(ns * static_cast<double>(calls_))) {
                break;
            }
        }
        return ns;
    }

    const Contest &contest_;
    const nf_arguments &arguments_;
    const int64_t calls_;
    const bool is_cold_;
    Plausibility plausibility_;
};

}  // namespace

void run_contest(const Contest &contest, const ContestObserver &observer) {
    const auto prepare = [&](const std::vector<size_t> &, const BeforeCall &before_call) {
        pin_to_one_cpu();
        before_call(kReference);
        const auto timer = std::make_shared<CoreTimer>(contest);
        return ContestTimer{timer->calls(), [timer](size_t contender) { return timer->nanoseconds(contender); },
                            [timer](double ns) { return timer->least_of_impossible(ns); }};
    };
    run_contest_loop({contest.contenders.size(), contest.first_block, contest.blocks, contest.seed,
                      contest.sample_limit * (1 + contest.retakes), ChildProcess::Memory::limited, prepare},
                     observer);
}

}  // namespace normforge
