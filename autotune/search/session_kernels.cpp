#include "autotune/search/session_kernels.h"

#include <optional>
#include <set>
#include <stdexcept>

#include "autotune/base/interruption.h"

namespace normforge {

void SessionKernels::try_schedules(const std::vector<std::string> &schedules, const std::function<bool()> &stop) {
    std::vector<std::string> untried;
    for (const std::string &knobs : schedules) {
        if (!has_trials(knobs)) {
            untried.push_back(knobs);
        }
    }
    compile(untried, stop, [&](const GatedKernel &kernel) { add(kernel); });
}

// A killed process may have stored them for some numbers of rows alone; then they get the others.
bool SessionKernels::has_trials(const std::string &knobs) {
    std::optional<Trial> known;
    for (int64_t rows : request_.rows) {
        if (const size_t place = trials_.place_of(knobs, rows); place != SessionTrials::kNone) {
            known = trials_.trials()[place];
            known->samples.clear();
        }
    }
    if (known) {
        trials_.add(*known, request_.rows);
    }
    return known.has_value();
}

void SessionKernels::complete(const std::vector<size_t> &places) {
    std::set<std::string> missing = {reference_};
    for (size_t place : places) {
        missing.insert(trials_.trials()[place].knobs);
    }
    std::erase_if(missing, [&](const std::string &knobs) { return has_kernel(knobs); });
    compile({missing.begin(), missing.end()}, is_interrupted, [&](const GatedKernel &kernel) {
        const std::string &knobs = kernel.trial.knobs;
        const size_t place = trials_.place_of(knobs, request_.rows.front());
        const Trial &known = trials_.trials().at(place);
        if (knobs == reference_ && known.status != TrialStatus::ok) {
            throw_unusable_reference(request_.problem, known);
        }
        if (kernel.trial.object_hash != known.object_hash) {
            throw std::logic_error("resumed session: another object for " + knobs);
        }
        load(kernel);
    });
}

void SessionKernels::compile(const std::vector<std::string> &schedules, const std::function<bool()> &stop,
                             const std::function<void(const GatedKernel &)> &done) {
    if (schedules.empty()) {
        return;
    }
    std::vector<AnyKernelSpec> specs;
    for (const std::string &knobs : schedules) {
        specs.push_back(kernel_spec(request_.problem, knobs, request_.target));
    }
    progress_.stage("compiling and checking", specs.size());
    gate(specs, {.stop = stop,
                 .tell = [&](const std::string &what) { progress_.say(what); },
                 .done =
                     [&](const GatedKernel &kernel) {
                         done(kernel);
                         progress_.advance();
                     }});
    stop_if_interrupted();
}

void SessionKernels::add(const GatedKernel &kernel) {
    if (kernel.trial.status == TrialStatus::ok) {
        load(kernel);
    }
    trials_.add(kernel.trial, request_.rows);
    if (kernel.trial.knobs == reference_ && kernel.trial.status != TrialStatus::ok) {
        throw_unusable_reference(request_.problem, kernel.trial);
    }
}

void CpuSessionKernels::gate(const std::vector<AnyKernelSpec> &specs, const GatedKernelsObserver &observer) {
    std::vector<KernelSpec> own;
    for (const AnyKernelSpec &spec : specs) {
        own.push_back(std::get<KernelSpec>(spec));
    }
    gate_kernels(own, gate_, request().emit, observer);
}

void CpuSessionKernels::load(const GatedKernel &kernel) {
    const KernelSpec spec{request().problem, parse_knobs(kernel.trial.knobs), request().target};
    field_.set_kernel(kernel.trial.knobs,
                      std::make_unique<LoadedKernel>(request().problem, kernel.object, kernel_symbol(spec)));
}

}  // namespace normforge
