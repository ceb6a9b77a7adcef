#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "autotune/base/machine_lock.h"
#include "autotune/measure/child_process.h"

namespace normforge {

// Pieces of work, each in a child process of its own, as many at once as there are usable cores, and never while
// another process of normforge times kernels.
struct ChildPool {
    size_t jobs;
    std::function<void(size_t job, const ChildProcess::Send &)> work;
    // For each of the messages that a child sends in turn, how long it may take.
    std::vector<std::chrono::milliseconds> limits;
    // Asked before a job is begun: whether to begin no more.
    std::function<bool()> stop = [] { return false; };
    MachineLock::Tell tell = {};
    ChildProcess::Memory memory = ChildProcess::Memory::limited;
};

// How a job ended: with fewer messages than limits where it crashed or hung.
struct ChildResult {
    std::vector<std::string> messages;
    ChildProcess::Outcome outcome;
    std::string reason;
    double milliseconds;  // to the first message, or to the end
};

// Calls `done` as results come, in any order.
void run(const ChildPool &pool, const std::function<void(size_t job, ChildResult)> &done);

}  // namespace normforge
