#pragma once

#include <functional>
#include <string>

#include "generators/gpu_reduction.h"
#include "generators/norm_formulas.h"
#include "generators/norm_values.h"

namespace normforge {

// What a row is normalised by, of values times `scale`; undefined where the CPU's are.
struct RowStatistics {
    Halide::Expr centre, centre_error, rstd, scale, saved_rstd;
};

// The statistics of a row that is dealt out to threads, in f32. docs/cuda.md has the derivation.
class GpuStatistics {
public:
    GpuStatistics(const NormProblem &problem, const GpuKnobs &knobs, const NormValues &values,
                  const NormFormulas &formulas, const GpuVars &vars, GpuReduction &threads);

    // The reductions that find them.
    void sum();

    // As the threads of the present section know them: what of_row takes apart.
    Halide::Func known();
    RowStatistics of_row(const Halide::FuncRef &known) const;

private:
    Halide::Expr scale();
    Halide::Expr scaled(const Halide::Expr &value);
    Halide::Expr reference();
    Halide::Func moments_about(const Halide::Func &pivot);
    void sum_about_pivots();
    GpuReduction::Values moments();

    const NormProblem &problem_;
    const GpuKnobs &knobs_;
    const NormValues &values_;
    const NormFormulas &formulas_;
    GpuReduction &threads_;
    const ThreadValues dealt_;
    const Halide::Expr hidden_;
    const Halide::Var l_, w_, r_;
};

}  // namespace normforge
