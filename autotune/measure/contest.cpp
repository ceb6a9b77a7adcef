#include "autotune/measure/contest.h"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <stdexcept>

#include "autotune/base/usable_cpus.h"
#include "autotune/measure/child_process.h"

namespace normforge {

namespace {

// What the child says: before it calls a kernel, and after it has timed one.
struct Message {
    enum Kind { before_call, timed } kind;
    size_t contender;
    Sample sample;
};

constexpr size_t kReference = SIZE_MAX;
constexpr std::chrono::milliseconds kSampleLimit{5000};

void pin_to_one_cpu() {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(usable_cpus().back(), &cpus);
    sched_setaffinity(0, sizeof cpus, &cpus);  // unpinned, the ratios are noisier but still right
}

void time_blocks(const Contest &contest, const std::vector<size_t> &order, int first_block,
                 const ChildProcess::Send &send) {
    pin_to_one_cpu();
    auto tell = [&](const Message &message) {
        send(std::string(reinterpret_cast<const char *>(&message), sizeof message));
    };
    const nf_arguments &arguments = contest.operands->arguments();
    tell({Message::before_call, kReference, {}});
    const int64_t calls = calls_for(contest.reference, arguments, contest.sample_nanoseconds);
    std::mt19937_64 random(contest.seed + static_cast<uint64_t>(first_block));
    for (int block = first_block; block < contest.first_block + contest.blocks; block++) {
        std::vector<size_t> shuffled = order;
        std::shuffle(shuffled.begin(), shuffled.end(), random);
        for (size_t position = 0; position < shuffled.size(); position++) {
            const size_t contender = shuffled[position];
            const LoadedKernel::Entry entry = contest.contenders[contender];
            tell({Message::before_call, contender, {}});
            entry(&arguments);  // its code and branch history are warm, as the reference's are
            Sample sample{block, static_cast<int>(position), calls, 0, 0};
            const bool reference_first = random() % 2 == 0;
            if (reference_first) {
                sample.reference_ns = time_calls(contest.reference, arguments, calls);
            }
            sample.ns = time_calls(entry, arguments, calls);
            if (!reference_first) {
                sample.reference_ns = time_calls(contest.reference, arguments, calls);
            }
            tell({Message::timed, contender, sample});
        }
    }
}

}  // namespace

void run_contest(const Contest &contest, const ContestObserver &observer) {
    std::vector<size_t> order(contest.contenders.size());
    std::iota(order.begin(), order.end(), 0);
    int next_block = contest.first_block;
    while (!order.empty() && next_block < contest.first_block + contest.blocks) {
        ChildProcess child([&](const ChildProcess::Send &send) { time_blocks(contest, order, next_block, send); });
        size_t called = kReference;
        int last_block = next_block - 1;
        while (std::optional<std::string> text = child.read(kSampleLimit)) {
            Message message;
            std::memcpy(&message, text->data(), sizeof message);
            called = message.contender;
            if (message.kind == Message::timed) {
                last_block = message.sample.block;
                observer.sample(message.contender, message.sample);
            }
        }
        if (child.outcome() == ChildProcess::Outcome::finished) {
            return;
        }
        if (called == kReference) {
            throw std::runtime_error("the heuristic's kernel failed while it was timed: " + child.reason());
        }
        const bool hung = child.outcome() == ChildProcess::Outcome::timed_out;
        observer.out(called, hung ? TrialStatus::timeout : TrialStatus::crash, child.reason());
        std::erase(order, called);
        next_block = last_block + 1;  // a contender has one sample of a block at most
    }
}

}  // namespace normforge
