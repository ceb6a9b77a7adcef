#pragma once

#include <string>
#include <vector>

#include "autotune/library/library_writer.h"
#include "generators/emit.h"
#include "schedules/space.h"
#include "schedules/target.h"

namespace normforge {

// Kernels to write libraries of.

inline constexpr int64_t kManyRows = 8;

inline LibraryVariant make_variant(const NormProblem &problem, const Halide::Target &target, const Knobs &knobs,
                                   int64_t min_rows, const std::string &source) {
    return {knobs, min_rows, source, emit({problem, knobs, target}, EmitForm::object)};
}

// Another schedule of the same arithmetic.
inline Knobs with_prefetch(Knobs knobs) {
    knobs.prefetch = 2;
    return knobs;
}

// Two kernels of one problem, the less demanding first, and one whose variants are the same code.
inline std::vector<LibraryKernel> make_kernels() {
    const NormProblem layer_norm = default_problem(NF_LAYER_NORM, 384);
    const NormProblem rms_norm = default_problem(NF_RMS_NORM, 7);
    const Halide::Target any = kernel_target("x86-64-linux");
    const Halide::Target host = kernel_target("host");
    const Knobs for_any = heuristic(layer_norm, any);
    const Knobs for_host = heuristic(layer_norm, host);
    const Knobs for_rms = heuristic(rms_norm, host);
    return {{layer_norm, any, {make_variant(layer_norm, any, for_any, 0, "heuristic")}},
            {layer_norm,
             host,
             {make_variant(layer_norm, host, for_host, 0, "tuned: ends a comment: */ and\na line"),
              make_variant(layer_norm, host, with_prefetch(for_host), kManyRows, "tuned: for many rows")}},
            {rms_norm,
             host,
             {make_variant(rms_norm, host, for_rms, 0, "heuristic"),
              make_variant(rms_norm, host, for_rms, kManyRows, "tuned: the same again")}}};
}

inline const std::vector<LibraryKernel> &example_kernels() {
    static const std::vector<LibraryKernel> kernels = make_kernels();
    return kernels;
}

inline std::string symbol_of(const LibraryKernel &kernel, const LibraryVariant &variant) {
    return kernel_symbol({kernel.problem, variant.knobs, kernel.target});
}

}  // namespace normforge
