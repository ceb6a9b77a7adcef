#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "autotune/measure/loaded_kernel.h"
#include "autotune/search/session_trials.h"

namespace normforge {

// A session's trials and the kernels to time them with on this CPU.
class TrialField : public SessionTrials {
public:
    using SessionTrials::SessionTrials;

    // The kernel of all trials of these knobs.
    void set_kernel(const std::string &knobs, std::unique_ptr<LoadedKernel> kernel);
    bool has_kernel(const std::string &knobs) const { return kernels_.contains(knobs); }

    // Loads the kernels of these trials, and the reference's, at other addresses.
    void move_kernels(const std::vector<size_t> &places, const std::string &reference_knobs);

    // Times those of the places whose trials are ok and of the operands' number of rows until each has so many
    // samples, or until `stop`. All must have kernels.
    void time(const std::vector<size_t> &places, int blocks, const std::string &reference_knobs,
              const TimingOperands &operands, uint64_t seed, const std::function<bool()> &stop,
              Progress &progress);

private:
    std::map<std::string, std::unique_ptr<LoadedKernel>> kernels_;
};

}  // namespace normforge
