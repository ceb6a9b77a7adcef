#pragma once

#include "autotune/cli/options.h"
#include "autotune/cli/tune_results.h"
#include "autotune/model/known_cpus.h"

namespace normforge {

// --static, --cpu and --device of tune: to rank schedules for a CPU or GPU that need not be at hand.
class StaticTuning {
public:
    explicit StaticTuning(CLI::App &command);

    // Throws UsageError for --static without one of the others or one of them without it, for those that exclude
    // them, and for a CPU or GPU that the static model does not know.
    bool is_asked_for() const;

    Hardware hardware() const;  // of the CPU or GPU

    // Without --target, for the one that suits the CPU or GPU. For a CPU it tells first how the model orders what
    // was measured on this machine, and throws UserError where that is too little to rely on, having stored
    // nothing.
    void run(const TuneCommand &request) const;

private:
    const KnownCpu &cpu() const;
    Halide::Target target(const TuneCommand &request) const;

    const CLI::App &command_;
    bool is_static_ = false;
    std::string cpu_;
    const CLI::Option *static_option_;
    const CLI::Option *cpu_option_;
    DeviceOption device_;
};

}  // namespace normforge
