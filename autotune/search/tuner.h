#pragma once

#include <map>
#include <string>
#include <vector>

#include "autotune/base/progress.h"
#include "autotune/database/database.h"
#include "autotune/search/searcher.h"
#include "autotune/search/selection.h"
#include "runtime/norm_problem.h"

namespace normforge {

struct TuneRequest {
    NormProblem problem;
    Halide::Target target;      // from kernel_target(); this CPU must be able to run it
    std::vector<int64_t> rows;  // numbers of rows to tune for
    Effort effort;
    uint64_t seed;
    std::vector<Knobs> known = {};  // schedules to try early, as of tuning_seeds()
};

struct TuneReport {
    Selection selection;
    std::map<TrialStatus, int> trials;  // how many ended how
    double seconds;
};

// Tries schedules of the problem on this machine: compiles them, holds each to the accuracy gate, times what
// passed against the heuristic's in rounds that keep the faster ones, and stores every trial in the database as it
// ends. Candidates run in child processes; one that crashes, hangs or is wrong is a trial with its reason.
// Throws UserError for a target that this CPU cannot run, std::runtime_error where the heuristic's own kernel
// fails.
TuneReport tune(const TuneRequest &request, Database &database, Progress &progress);

// Throws UserError for a target that this CPU cannot run.
void require_runnable(const Halide::Target &target);

// The versions that kernels are made with now.
Toolchain current_toolchain();

}  // namespace normforge
