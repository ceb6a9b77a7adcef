#pragma once

#include "autotune/search/compile_pool.h"

namespace normforge {

// What is known of a schedule once it is compiled: a trial of no number of rows yet.
Trial compiled_trial(const KernelSpec &spec, const CompiledKernel &compiled);

}  // namespace normforge
