#pragma once

#include "autotune/cli/tune_results.h"
#include "autotune/model/known_cpus.h"

namespace normforge {

// --static and --cpu of tune: to simulate schedules for a CPU that need not be at hand.
class StaticTuning {
public:
    explicit StaticTuning(CLI::App &command);

    // Throws UsageError for one option without the other, for those that exclude them, and for an unknown CPU.
    bool is_asked_for() const;

    // Without --target, for the one that suits the CPU. Tells first how the model orders what was measured on this
    // machine. Throws UserError where that is too little to rely on, having stored nothing.
    void run(const TuneCommand &request) const;

private:
    const KnownCpu &cpu() const;

    const CLI::App &command_;
    bool is_static_ = false;
    std::string cpu_;
};

}  // namespace normforge
