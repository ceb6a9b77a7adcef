#pragma once

#include <cstddef>
#include <random>

#include "examples/aligned_floats.h"

namespace normforge {

// N(0, 1), the same values in every run.
inline AlignedFloats normal_values(size_t count, unsigned seed) {
    std::mt19937 engine(seed);
    std::normal_distribution<float> normal;
    AlignedFloats values(count);
    for (float &value : values) {
        value = normal(engine);
    }
    return values;
}

}  // namespace normforge
