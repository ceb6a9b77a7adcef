#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "autotune/base/machine_lock.h"
#include "autotune/base/trial.h"
#include "autotune/measure/timing.h"

namespace normforge {

// Kernels timed against one reference, so that the ratios hold on a machine whose speed drifts.
struct Contest {
    const nf_kernel *reference;
    std::vector<const nf_kernel *> contenders;
    const TimingOperands *operands;
    int first_block;  // samples are numbered from here
    int blocks;
    double sample_nanoseconds;
    uint64_t seed;
    std::chrono::milliseconds sample_limit{5000};  // for one sample; a contender that takes longer hangs
    // Times that a disturbed sample is taken anew; then it is kept: on a busy machine there is no better one.
    int retakes = 2;
    // Whether each kernel loads and stores all of the problem's rows, so that a time can be too short to be true.
    bool moves_all_rows = true;
};

struct ContestObserver {
    std::function<void(size_t contender, const Sample &)> sample;
    // The contender crashed, hung or was faster than its core can be, and takes no further part.
    std::function<void(size_t contender, TrialStatus, const std::string &reason)> out;
    // Asked between two blocks: whether to end the contest there.
    std::function<bool()> stop = [] { return false; };
    MachineLock::Tell tell = {};
};

// What is said of a contender that is out, and thrown where the reference is.
std::string timing_failure(const std::string &reason);
[[noreturn]] void throw_failed_reference(const std::string &reason);

// Every block times each contender once, in a fresh random order and right beside the reference, in a child
// process that is pinned to one CPU, while no other process of normforge computes. A contender that brings the
// child down is out; the others' contest goes on in a new child, and none of them loses a sample. Throws
// std::runtime_error where the reference itself fails.
void run_contest(const Contest &contest, const ContestObserver &observer);

}  // namespace normforge
