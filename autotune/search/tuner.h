#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "autotune/base/progress.h"
#include "autotune/database/database.h"
#include "autotune/search/gated_kernels.h"
#include "autotune/search/searcher.h"
#include "autotune/search/selection.h"
#include "runtime/norm_problem.h"

namespace normforge {

struct TuneRequest {
    NormProblem problem;
    Halide::Target target;      // from kernel_target(); this CPU must be able to run it, or a GPU be here
    std::vector<int64_t> rows;  // numbers of rows to tune for
    Effort effort;
    uint64_t seed;
    std::vector<Knobs> known = {};  // schedules to try early, as of tuning_seeds()
    bool resume = false;            // goes on with a session of the same request that did not come to its end
    // Until when to measure. Then what is known decides, and the session is stored as one that was cut.
    std::optional<std::chrono::steady_clock::time_point> deadline = {};
    Emit emit = [](const KernelSpec &spec) { return normforge::emit(spec, EmitForm::object); };
};

struct TuneReport {
    Selection selection;
    std::map<TrialStatus, int> trials;  // how many ended how
    double seconds;
    std::string cut;       // why the search was not finished, or empty
    std::string hardware;  // the signature of what it was measured on
    // For each number of rows, of a copy on the GPU that moves as many bytes. Empty for CPUs.
    std::map<int64_t, double> copy_nanoseconds;
};

// Tries schedules of the problem on this machine: compiles those that a Strategy proposes, holds each to the
// accuracy gate, times what passed against the heuristic's in rounds that keep the faster ones, and stores every
// trial in the database as it ends. Candidates run in child processes; one that crashes, hangs or is wrong is a
// trial with its reason. Schedules of equal machine code are timed once. Throws UserError for a target that this
// CPU cannot run, std::runtime_error where the heuristic's own kernel fails, and Interrupted, with all samples
// stored, where the process is asked to end: the session is aborted then, and can be resumed. Kernels for GPUs are
// measured on the machine's first one: see device_tuning.h.
TuneReport tune(const TuneRequest &request, Database &database, Progress &progress);

// Whether the database has a session of this request that came to its end.
bool is_done(const TuneRequest &request, const Database &database);

// Throws UserError for a target that this CPU cannot run, and for GPUs where there is none.
void require_runnable(const Halide::Target &target);

// What a session of the request depends on, by the tools of today.
SessionKey session_key(const TuneRequest &request, const Hardware &hardware, const std::string &reference,
                       TimeSource source = TimeSource::measured);
int64_t begin_session(const TuneRequest &request, const SessionKey &key, Database &database);

// For a reference that has failed before it was timed: std::runtime_error.
[[noreturn]] void throw_unusable_reference(const NormProblem &problem, const Trial &trial);

// The versions that kernels are made with now.
Toolchain current_toolchain();

}  // namespace normforge
