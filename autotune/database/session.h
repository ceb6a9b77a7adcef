#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "autotune/base/enum_text.h"
#include "autotune/base/hardware.h"
#include "runtime/norm_problem.h"

namespace normforge {

// Versions of what kernels are made with.
struct Toolchain {
    std::string halide;
    std::string llvm;
    std::string normforge;

    bool operator==(const Toolchain &) const = default;
};

// What kernels are made by: hashes of the generators, which hold the maths, and of the schedules, which hold the
// space that is searched. Empty in sessions of files from before these were kept.
struct GeneratorVersion {
    std::string algorithm;
    std::string space;

    bool operator==(const GeneratorVersion &) const = default;
};

// What the results of a tuning session depend on. Results of another key are not comparable.
struct SessionKey {
    NormProblem problem;
    Hardware hardware;
    Toolchain toolchain;
    GeneratorVersion generator;
    std::string target;     // Halide's text of it
    std::string reference;  // the knobs of the schedule that all others are timed beside: the heuristic's
    TimeSource source = TimeSource::measured;
};

struct StoredSession {
    int64_t id;        // in this file
    std::string uuid;  // everywhere: 32 hexadecimal digits
    NormProblem problem;
    Hardware hardware;  // without features that this version does not know
    std::string hardware_signature;
    Toolchain toolchain;
    GeneratorVersion generator;
    std::string target;
    std::string reference;  // empty in an older file's session without trials
    int64_t seed;
    std::string effort;
    SessionState state;
    std::string started;  // UTC, "2026-01-31T12:34:56.789Z"
    std::string ended;    // empty while running
    std::optional<double> noise_floor;
    TimeSource source;
    std::string process;  // process_identity() of who measures; empty once ended
    std::string cut;      // why it ended before its search did; empty where it did not
};

}  // namespace normforge
