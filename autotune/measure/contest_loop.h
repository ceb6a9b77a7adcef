#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "autotune/measure/child_process.h"
#include "autotune/measure/contest.h"

namespace normforge {

// What contests have in common, wherever their kernels run: blocks of samples, taken by a child process.

// In a contender's place.
inline constexpr size_t kReference = SIZE_MAX;

// How far a contest has come.
struct ContestStanding {
    std::vector<size_t> active;  // contenders that are not out
    int block;
    std::vector<size_t> due;  // those of them that still lack a sample of this block

    void settle(size_t contender);
};

// How a child times a contest's kernels.
struct ContestTimer {
    int64_t calls;                                        // of a sample
    std::function<double(size_t contender)> nanoseconds;  // that one of these calls takes; of kReference too
    // How long a call takes at least, where it can not have taken so few nanoseconds; else 0.
    std::function<double(double ns)> least_of_impossible = [](double) { return 0.0; };
};

// Told by the child before it calls a contender, or kReference: whoever it was last is held responsible where the
// child ends.
using BeforeCall = std::function<void(size_t contender)>;

struct ContestLoop {
    size_t contenders;
    int first_block;  // samples are numbered from here
    int blocks;
    uint64_t seed;
    std::chrono::milliseconds limit;  // from one message of the child to the next
    ChildProcess::Memory memory;
    // In the child: makes all ready and returns how to time those of `active`, with what it refers to.
    std::function<ContestTimer(const std::vector<size_t> &active, const BeforeCall &)> prepare;
};

// Every block times each contender once, in a fresh random order and right beside the reference, in a child
// process, while no other process of normforge computes; see run_contest().
void run_contest_loop(const ContestLoop &loop, const ContestObserver &observer);

}  // namespace normforge
