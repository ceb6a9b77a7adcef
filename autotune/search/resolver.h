#pragma once

#include <string>
#include <vector>

#include "autotune/search/ladder.h"

namespace normforge {

// A schedule compiled for a range of numbers of rows.
struct ResolvedVariant {
    AnyKernelSpec spec;
    int64_t min_rows;    // used from here up to the next variant's
    std::string object;  // or PTX
};

// What came of an entry of a step, or of the step where it has none.
struct StepOutcome {
    LadderStep step;
    bool is_shipped;  // the entry is of the database that normforge comes with
    bool can_serve;
    std::string outcome;  // what the entry gained where it was measured, or why it cannot serve
};

// What a library holds for one problem on one target.
struct ResolvedKernel {
    NormProblem problem;
    Halide::Target target;
    std::vector<ResolvedVariant> variants;  // by rising min_rows, the first one's 0
    LadderStep step;
    bool is_measured;                   // and not simulated, or the heuristic's
    std::string source;                 // "tuned: 1.31x the heuristic at 1 row, ...", "heuristic: " and why
    std::vector<StepOutcome> outcomes;  // in the order of the ladder; the first that can serve is the one taken
};

// The variant that serves so many rows.
const ResolvedVariant &variant_for(const ResolvedKernel &kernel, int64_t rows);

// Compiles the best known kernel of every problem on every target for the machine: what the highest step of the
// ladder has whose own code is, generated anew, what was measured, else the heuristic's schedules. Throws
// CompileFailure where not even the heuristic's can be compiled.
enum class Steps { up_to_the_taken, all };  // that are tried
std::vector<ResolvedKernel> resolve(const std::vector<NormProblem> &problems,
                                    const std::vector<Halide::Target> &targets, const KnownDatabases &databases,
                                    Steps steps = Steps::up_to_the_taken, const Machine &machine = {});

}  // namespace normforge
