#pragma once

#include "autotune/search/compile_pool.h"

namespace normforge {

// What is known of a schedule once it is compiled: a trial of no number of rows yet.
Trial compiled_trial(const AnyKernelSpec &spec, const CompiledKernel &compiled);

// What tells which schedules give equal bits. Equal outputs of the accuracy gate's rows alone do not make equal
// bits of all.
std::string output_digest(const std::string &of_gate, const AnyKernelSpec &spec);

}  // namespace normforge
