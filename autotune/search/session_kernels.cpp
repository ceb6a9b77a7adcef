#include "autotune/search/session_kernels.h"

#include <optional>
#include <stdexcept>

#include "autotune/base/interruption.h"

namespace normforge {

SessionKernels::SessionKernels(const TuneRequest &request, std::string reference, TrialField &field,
                               Progress &progress)
    : request_(request), reference_(std::move(reference)), field_(field), progress_(progress),
      gate_(request.problem) {}

void SessionKernels::try_schedules(const std::vector<Knobs> &schedules, const std::function<bool()> &stop) {
    std::vector<KernelSpec> specs;
    for (const Knobs &knobs : schedules) {
        if (!has_trials(to_text(knobs))) {
            specs.push_back({request_.problem, knobs, request_.target});
        }
    }
    compile(specs, stop, [&](const GatedKernel &kernel) { add(kernel); });
}

// A killed process may have stored them for some numbers of rows alone; then they get the others.
bool SessionKernels::has_trials(const std::string &knobs) {
    std::optional<Trial> known;
    for (int64_t rows : request_.rows) {
        if (const size_t place = field_.place_of(knobs, rows); place != TrialField::kNone) {
            known = field_.trials()[place];
            known->samples.clear();
        }
    }
    if (known) {
        field_.add(*known, request_.rows);
    }
    return known.has_value();
}

void SessionKernels::complete(const std::vector<size_t> &places) {
    std::set<std::string> missing = {reference_};
    for (size_t place : places) {
        missing.insert(field_.trials()[place].knobs);
    }
    std::vector<KernelSpec> specs;
    for (const std::string &knobs : missing) {
        if (!field_.has_kernel(knobs)) {
            specs.push_back({request_.problem, parse_knobs(knobs), request_.target});
        }
    }
    compile(specs, is_interrupted, [&](const GatedKernel &kernel) {
        const std::string &knobs = kernel.trial.knobs;
        const size_t place = field_.place_of(knobs, request_.rows.front());
        const Trial &known = field_.trials().at(place);
        if (knobs == reference_ && known.status != TrialStatus::ok) {
            throw_unusable_reference(request_.problem, known);
        }
        if (kernel.trial.object_hash != known.object_hash) {
            throw std::logic_error("resumed session: another object for " + knobs);
        }
        load(kernel);
    });
}

void SessionKernels::compile(const std::vector<KernelSpec> &specs, const std::function<bool()> &stop,
                             const std::function<void(const GatedKernel &)> &done) {
    if (specs.empty()) {
        return;
    }
    progress_.stage("compiling and checking", specs.size());
    gate_kernels(specs, gate_, request_.emit,
                 {.stop = stop,
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
    field_.add(kernel.trial, request_.rows);
    if (kernel.trial.knobs == reference_ && kernel.trial.status != TrialStatus::ok) {
        throw_unusable_reference(request_.problem, kernel.trial);
    }
}

void SessionKernels::load(const GatedKernel &kernel) {
    const KernelSpec spec{request_.problem, parse_knobs(kernel.trial.knobs), request_.target};
    field_.set_kernel(kernel.trial.knobs,
                      std::make_unique<LoadedKernel>(request_.problem, kernel.object, kernel_symbol(spec)));
}

}  // namespace normforge
