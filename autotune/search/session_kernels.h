#pragma once

#include <functional>
#include <string>
#include <vector>

#include "autotune/base/progress.h"
#include "autotune/measure/accuracy_gate.h"
#include "autotune/search/gated_kernels.h"
#include "autotune/search/trial_field.h"
#include "autotune/search/tuner.h"

namespace normforge {

// Compiles a session's schedules, holds them to the accuracy gate and keeps their trials and the kernels of those
// that passed. All throw Interrupted where the process is asked to end, and std::runtime_error where the
// reference's own kernel is unusable.
class SessionKernels {
public:
    // The arguments must outlive it.
    SessionKernels(const TuneRequest &request, std::string reference, SessionTrials &trials, Progress &progress)
        : request_(request), reference_(std::move(reference)), trials_(trials), progress_(progress) {}
    virtual ~SessionKernels() = default;

    // Trials of those schedules that have none yet, by their knobs, for all numbers of rows of the request. `stop`
    // is asked before each.
    void try_schedules(const std::vector<std::string> &schedules, const std::function<bool()> &stop);

    // The kernels of these trials and of the reference, of which a resumed session has only the trials.
    void complete(const std::vector<size_t> &places);

protected:
    const TuneRequest &request() const { return request_; }

private:
    // Compiles and checks.
    virtual void gate(const std::vector<AnyKernelSpec> &specs, const GatedKernelsObserver &observer) = 0;

    // Keeps a kernel that has passed.
    virtual void load(const GatedKernel &kernel) = 0;
    virtual bool has_kernel(const std::string &knobs) const = 0;

    bool has_trials(const std::string &knobs);
    void compile(const std::vector<std::string> &schedules, const std::function<bool()> &stop,
                 const std::function<void(const GatedKernel &)> &done);
    void add(const GatedKernel &kernel);

    const TuneRequest &request_;
    const std::string reference_;
    SessionTrials &trials_;
    Progress &progress_;
};

// Those of this CPU, which are loaded into the field.
class CpuSessionKernels : public SessionKernels {
public:
    CpuSessionKernels(const TuneRequest &request, std::string reference, TrialField &field, Progress &progress)
        : SessionKernels(request, std::move(reference), field, progress), field_(field), gate_(request.problem) {}

private:
    void gate(const std::vector<AnyKernelSpec> &specs, const GatedKernelsObserver &observer) override;
    void load(const GatedKernel &kernel) override;
    bool has_kernel(const std::string &knobs) const override { return field_.has_kernel(knobs); }

    TrialField &field_;
    const AccuracyGate gate_;
};

}  // namespace normforge
