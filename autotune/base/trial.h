#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/norm_problem.h"

namespace normforge {

enum class TrialStatus {
    ok,
    compile_error,
    crash,    // died of a signal
    timeout,  // ran longer than its limit
    wrong,    // failed the accuracy gate, or did not do its work while it was timed
};

// One timed block. The reference, the heuristic's kernel, is timed beside every candidate of its block, so the
// ratio ns / reference_ns holds on a machine whose speed drifts.
struct Sample {
    int block;      // rises over the session
    int position;   // the candidate's place in the block's random order
    int64_t calls;  // timed together
    double ns;      // one call
    double reference_ns;

    bool operator==(const Sample &) const = default;
};

// What became of one schedule at one number of rows.
struct Trial {
    std::string knobs;
    int64_t rows;
    TrialStatus status;
    std::string message;      // why, where status is not ok
    std::string object_hash;  // of the object file's bytes
    std::string code_hash;    // of its machine code, as code_hash.h has it; empty where that is unknown
    std::string
        output_digest;   // of the accuracy gate's outputs, and the arithmetic: equal for equal bits of all rows
    double error_ratio;  // largest error over its bound on the accuracy gate; at most 1 passes
    int64_t code_bytes;
    double compile_ms;
    std::vector<Sample> samples;
};

// The trial's time over the reference's, of each sample.
std::vector<double> sample_ratios(const Trial &trial);

// Their median, and that of a field; NaN without samples.
double median_ratio(const Trial &trial);
double median_of(const Trial &trial, double Sample::*field);

// How many samples a trial has that was timed to the end at this number of rows: the most of any that is ok. One
// with fewer was dropped on the way.
size_t most_samples(const std::vector<Trial> &trials, int64_t rows);

}  // namespace normforge
