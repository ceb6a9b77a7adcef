#pragma once

#include "autotune/model/known_cpus.h"
#include "autotune/model/known_gpus.h"
#include "autotune/search/tuner.h"

namespace normforge {

// What tune() does, but by the static model of a CPU that need not be here: compiles schedules of the problem,
// simulates them, and stores them as a session of that CPU whose times were simulated. Nothing runs, so nothing is
// checked by the accuracy gate either. Throws UserError where the CPU cannot run the target or LLVM has no model
// of its instructions, and for backward passes, whose loops over slices the model does not know.
TuneReport rank_statically(const TuneRequest &request, const KnownCpu &cpu, Database &database,
                           Progress &progress);

// The same for a GPU, whose model looks at schedules and not at their code: they are compiled only to see that
// they can be. One schedule is to serve all numbers of rows. Throws UserError for a problem that no GPU schedule
// serves.
TuneReport rank_statically(const TuneRequest &request, const GpuDevice &device, Database &database,
                           Progress &progress);

// Throws UserError for what cannot be ranked for that CPU.
void require_rankable(const NormProblem &problem, const Halide::Target &target, const KnownCpu &cpu);

}  // namespace normforge
