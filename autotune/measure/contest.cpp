#include "autotune/measure/contest.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <stdexcept>

#include "autotune/base/usable_cpus.h"
#include "autotune/measure/child_process.h"
#include "autotune/measure/core_limits.h"
#include "autotune/measure/disturbances.h"

namespace normforge {

namespace {

// What the child says: before it calls a kernel, after it has timed one, and instead if the time cannot be.
struct Message {
    enum Kind { before_call, timed, impossible } kind;
    size_t contender;
    Sample sample;
    double least_ns = 0;  // of an impossible sample
};

constexpr size_t kReference = SIZE_MAX;

void pin_to_one_cpu() {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(usable_cpus().back(), &cpus);
    sched_setaffinity(0, sizeof cpus, &cpus);  // unpinned, the ratios are noisier but still right
}

// How far a contest has come.
struct Standing {
    std::vector<size_t> active;  // contenders that are not out
    int block;
    std::vector<size_t> due;  // those of them that still lack a sample of this block

    void settle(size_t contender) {
        std::erase(due, contender);
        if (due.empty()) {
            block++;
            due = active;
        }
    }
};

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

// A call of so many nanoseconds needs no other one before it to warm up.
constexpr double kLongCall = 1e6;

void time_blocks(const Contest &contest, const Standing &start, const ChildProcess::Send &send) {
    pin_to_one_cpu();
    auto tell = [&](const Message &message) {
        send(std::string(reinterpret_cast<const char *>(&message), sizeof message));
    };
    const nf_arguments &arguments = contest.operands->arguments();
    tell({Message::before_call, kReference, {}});
    const int64_t calls = calls_for(*contest.reference, arguments, contest.sample_nanoseconds);
    const bool is_long = calls == 1 && time_calls(*contest.reference, arguments, 1) > kLongCall;
    const auto timed = [&](const nf_kernel &kernel) {
        double ns = 0;
        for (int take = 0; take <= contest.retakes; take++) {
            const Disturbances disturbances;
            ns = time_calls(kernel, arguments, calls);
            if (!disturbances.are_felt(ns * static_cast<double>(calls))) {
                break;
            }
        }
        return ns;
    };
    Plausibility plausibility(contest.reference->problem, arguments.rows);
    std::mt19937_64 random(contest.seed + static_cast<uint64_t>(start.block));
    for (int block = start.block; block < contest.first_block + contest.blocks; block++) {
        std::vector<size_t> shuffled = block == start.block ? start.due : start.active;
        std::shuffle(shuffled.begin(), shuffled.end(), random);
        double reference_ns = 0;
        for (size_t position = 0; position < shuffled.size(); position++) {
            const size_t contender = shuffled[position];
            const nf_kernel &kernel = *contest.contenders[contender];
            tell({Message::before_call, contender, {}});
            if (!is_long) {
                time_calls(kernel, arguments, 1);  // its code and branch history are warm, as the reference's are
            }
            const double ns = timed(kernel);
            // Two contenders have the reference between them.
            if (position % 2 == 0) {
                reference_ns = timed(*contest.reference);
            }
            const Sample sample{block, static_cast<int>(position), calls, ns, reference_ns};
            for (const auto &[who, time] : {std::pair(contender, ns), std::pair(kReference, reference_ns)}) {
                if (contest.moves_all_rows && !plausibility.allows(time)) {
                    tell({Message::impossible, who, sample, plausibility.least_ns()});
                    return;
                }
            }
            tell({Message::timed, contender, sample});
        }
    }
}

std::string impossible_text(const Message &message) {
    const double ns = message.contender == kReference ? message.sample.reference_ns : message.sample.ns;
    return fmt::format(
        "a call took {:.4g} ns, in two processes, and what it must load and store takes this core {:.4g} ns", ns,
        message.least_ns);
}

}  // namespace

std::string timing_failure(const std::string &reason) {
    return "while it was timed: " + reason;
}

void throw_failed_reference(const std::string &reason) {
    throw std::runtime_error("the heuristic's kernel failed " + timing_failure(reason));
}

void run_contest(const Contest &contest, const ContestObserver &observer) {
    std::vector<size_t> all(contest.contenders.size());
    std::iota(all.begin(), all.end(), 0);
    Standing standing{all, contest.first_block, all};
    if (all.empty() || contest.blocks == 0) {
        return;
    }
    std::set<size_t> suspects;
    MachineLock lock(MachineLock::Use::timing, observer.tell);
    while (!standing.active.empty() && standing.block < contest.first_block + contest.blocks) {
        if (lock.is_wanted()) {
            lock.renew();
        }
        ChildProcess child([&](const ChildProcess::Send &send) { time_blocks(contest, standing, send); });
        size_t called = kReference;
        std::optional<Message> impossible;
        bool paused = false;
        std::optional<std::string> text;
        while (!paused && !impossible && (text = child.read(contest.sample_limit * (1 + contest.retakes)))) {
            Message message;
            std::memcpy(&message, text->data(), sizeof message);
            called = message.contender;
            if (message.kind == Message::timed) {
                const int block = standing.block;
                standing.settle(called);
                observer.sample(called, message.sample);
                const bool is_between =
                    standing.block != block && standing.block < contest.first_block + contest.blocks;
                if (is_between && observer.stop()) {
                    return;
                }
                paused = is_between && lock.is_wanted();
            } else if (message.kind == Message::impossible) {
                impossible = message;
            }
        }
        if (impossible && suspects.insert(called).second) {
            continue;  // in a new process, since the clock may have jumped
        }
        if (!impossible && child.outcome() == ChildProcess::Outcome::finished) {
            return;
        }
        if (paused) {
            continue;  // others first; what the child has timed of the next block is done anew
        }
        const std::string reason = impossible ? impossible_text(*impossible) : child.reason();
        if (called == kReference) {
            throw_failed_reference(reason);
        }
        observer.out(called, impossible ? TrialStatus::wrong : ChildProcess::failure(child.outcome()), reason);
        std::erase(standing.active, called);
        standing.settle(called);
    }
}

}  // namespace normforge
