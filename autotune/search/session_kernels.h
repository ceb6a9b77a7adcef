#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "autotune/base/progress.h"
#include "autotune/measure/accuracy_gate.h"
#include "autotune/search/trial_field.h"
#include "autotune/search/tuner.h"

namespace normforge {

// Compiles a session's schedules, holds them to the accuracy gate and hands what passed to its field of trials.
// All throw Interrupted where the process is asked to end, and std::runtime_error where the reference's own kernel
// is unusable.
class SessionKernels {
public:
    // The arguments must outlive it.
    SessionKernels(const TuneRequest &request, std::string reference, TrialField &field, Progress &progress);

    // Trials of those schedules that have none yet, for all numbers of rows of the request. `stop` is asked before
    // each.
    void try_schedules(const std::vector<Knobs> &schedules, const std::function<bool()> &stop);

    // The kernels of these trials and of the reference, of which a resumed session has only the trials.
    void complete(const std::vector<size_t> &places);

private:
    bool has_trials(const std::string &knobs);
    void compile(const std::vector<KernelSpec> &specs, const std::function<bool()> &stop,
                 const std::function<void(const GatedKernel &)> &done);
    void add(const GatedKernel &kernel);
    void load(const GatedKernel &kernel);

    const TuneRequest &request_;
    const std::string reference_;
    TrialField &field_;
    Progress &progress_;
    const AccuracyGate gate_;
};

}  // namespace normforge
