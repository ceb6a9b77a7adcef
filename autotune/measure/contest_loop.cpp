#include "autotune/measure/contest_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <utility>

namespace normforge {

namespace {

// What the child says: before it calls a kernel, after it has timed one, and instead if the time cannot be.
struct Message {
    enum Kind { before_call, timed, impossible } kind;
    size_t contender;
    Sample sample;
    double least_ns = 0;  // of an impossible sample
};

void time_blocks(const ContestLoop &loop, const ContestStanding &start, const ChildProcess::Send &send) {
    const auto tell = [&](const Message &message) {
        send(std::string(reinterpret_cast<const char *>(&message), sizeof message));
    };
    const auto before_call = [&](size_t contender) { tell({Message::before_call, contender, {}}); };
    const ContestTimer timer = loop.prepare(start.active, before_call);
    std::mt19937_64 random(loop.seed + static_cast<uint64_t>(start.block));
    for (int block = start.block; block < loop.first_block + loop.blocks; block++) {
        std::vector<size_t> shuffled = block == start.block ? start.due : start.active;
        std::ranges::shuffle(shuffled, random);
        double reference_ns = 0;
        for (size_t position = 0; position < shuffled.size(); position++) {
            const size_t contender = shuffled[position];
            before_call(contender);
            const double ns = timer.nanoseconds(contender);
            // Two contenders have the reference between them.
            if (position % 2 == 0) {
                reference_ns = timer.nanoseconds(kReference);
            }
            const Sample sample{block, static_cast<int>(position), timer.calls, ns, reference_ns};
            for (const auto &[who, time] : {std::pair(contender, ns), std::pair(kReference, reference_ns)}) {
                if (const double least_ns = timer.least_of_impossible(time); least_ns > 0) {
                    tell({Message::impossible, who, sample, least_ns});
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

void ContestStanding::settle(size_t contender) {
    std::erase(due, contender);
    if (due.empty()) {
        block++;
        due = active;
    }
}

std::string timing_failure(const std::string &reason) {
    return "while it was timed: " + reason;
}

void throw_failed_reference(const std::string &reason) {
    throw std::runtime_error("the heuristic's kernel failed " + timing_failure(reason));
}

void run_contest_loop(const ContestLoop &loop, const ContestObserver &observer) {
    std::vector<size_t> all(loop.contenders);
    std::iota(all.begin(), all.end(), 0);
    ContestStanding standing{all, loop.first_block, all};
    if (all.empty() || loop.blocks == 0) {
        return;
    }
    std::set<size_t> suspects;
    MachineLock lock(MachineLock::Use::timing, observer.tell);
    while (!standing.active.empty() && standing.block < loop.first_block + loop.blocks) {
        if (lock.is_wanted()) {
            lock.renew();
        }
        ChildProcess child([&](const ChildProcess::Send &send) { time_blocks(loop, standing, send); },
                           loop.memory);
        size_t called = kReference;
        std::optional<Message> impossible;
        bool paused = false;
        std::optional<std::string> text;
        while (!paused && !impossible && (text = child.read(loop.limit))) {
            Message message;
            std::memcpy(&message, text->data(), sizeof message);
            called = message.contender;
            if (message.kind == Message::timed) {
                const int block = standing.block;
                standing.settle(called);
                observer.sample(called, message.sample);
                const bool is_between = standing.block != block && standing.block < loop.first_block + loop.blocks;
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
