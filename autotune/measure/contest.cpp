#include "autotune/measure/contest.h"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <stdexcept>

#include "autotune/base/usable_cpus.h"
#include "autotune/measure/child_process.h"
#include "autotune/measure/disturbances.h"

namespace normforge {

namespace {

// What the child says: before it calls a kernel, and after it has timed one.
struct Message {
    enum Kind { before_call, timed } kind;
    size_t contender;
    Sample sample;
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
            tell({Message::timed, contender, {block, static_cast<int>(position), calls, ns, reference_ns}});
        }
    }
}

}  // namespace

void run_contest(const Contest &contest, const ContestObserver &observer) {
    std::vector<size_t> all(contest.contenders.size());
    std::iota(all.begin(), all.end(), 0);
    Standing standing{all, contest.first_block, all};
    if (all.empty() || contest.blocks == 0) {
        return;
    }
    MachineLock lock(MachineLock::Use::timing, observer.tell);
    while (!standing.active.empty() && standing.block < contest.first_block + contest.blocks) {
        if (lock.is_wanted()) {
            lock.renew();
        }
        ChildProcess child([&](const ChildProcess::Send &send) { time_blocks(contest, standing, send); });
        size_t called = kReference;
        bool paused = false;
        std::optional<std::string> text;
        while (!paused && (text = child.read(contest.sample_limit * (1 + contest.retakes)))) {
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
            }
        }
        if (child.outcome() == ChildProcess::Outcome::finished) {
            return;
        }
        if (paused) {
            continue;  // others first; what the child has timed of the next block is done anew
        }
        if (called == kReference) {
            throw std::runtime_error("the heuristic's kernel failed while it was timed: " + child.reason());
        }
        const bool hung = child.outcome() == ChildProcess::Outcome::timed_out;
        observer.out(called, hung ? TrialStatus::timeout : TrialStatus::crash, child.reason());
        std::erase(standing.active, called);
        standing.settle(called);
    }
}

}  // namespace normforge
