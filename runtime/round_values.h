#pragma once

#include <cstdint>

#include "runtime/normforge.h"

namespace normforge {

// rounded[index] = values[index], of the type f32, f16 or bf16. As store_value() rounds, but many at a time; f16
// below the normal range by an addition, which needs the rounding mode to be to nearest.
void round_values(void *rounded, nf_dtype type, const float *values, int64_t count);

}  // namespace normforge
