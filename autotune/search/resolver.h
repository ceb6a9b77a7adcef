#pragma once

#include <string>
#include <vector>

#include "autotune/database/database.h"
#include "generators/emit.h"

namespace normforge {

// A schedule compiled for a range of numbers of rows.
struct ResolvedVariant {
    KernelSpec spec;
    int64_t min_rows;  // used from here up to the next variant's
    std::string object;
};

// What a library holds for one problem on one target.
struct ResolvedKernel {
    NormProblem problem;
    Halide::Target target;
    std::vector<ResolvedVariant> variants;  // by rising min_rows, the first one's 0
    bool tuned;
    std::string source;  // "tuned: 1.31x the heuristic at 1 row, ..." or "heuristic: " and why
};

// The variant that serves so many rows.
const ResolvedVariant &variant_for(const ResolvedKernel &kernel, int64_t rows);

// Compiles the best known kernel of every problem on every target: the database's choice for this hardware if
// there is one whose code is byte for byte what was measured, else the heuristic's schedule, with the reason in
// `source`. A null database asks for the heuristic's. Throws CompileFailure where a kernel cannot be compiled.
std::vector<ResolvedKernel> resolve(const std::vector<NormProblem> &problems,
                                    const std::vector<Halide::Target> &targets, const Database *database);

}  // namespace normforge
