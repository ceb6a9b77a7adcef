#pragma once

#include "autotune/cli/tune_results.h"

namespace normforge {

// --launcher of tune: to measure on another machine.
class LaunchedTuning {
public:
    explicit LaunchedTuning(CLI::App &command);

    // Throws UsageError for options that exclude it.
    bool is_asked_for() const;

    // For each problem links the candidates into one program, which the launcher runs where they are to be
    // measured, and stores what it reports as a session of that machine. Under an emulator no time is taken: the
    // session holds what the accuracy gate said, and decides nothing. Throws UserError where the launcher or the
    // program fails.
    void run(const TuneCommand &request) const;

private:
    const CLI::App &command_;
    std::string launcher_;
};

}  // namespace normforge
