#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "examples/aligned_floats.h"
#include "examples/npz.h"
#include "runtime/normforge.h"

namespace normforge {

// The input of one norm layer of a real model, made `hidden` values wide.
struct RealLayer {
    int64_t hidden;
    int64_t model_hidden;
    int64_t model_rows;  // x begins with so many; its further rows repeat them
    float epsilon;
    AlignedFloats x, weight, bias;  // bias is empty if the layer has none

    // To run x's first rows; y must hold as many.
    nf_arguments arguments(int64_t rows, float *y) const;
};

// The layers MODEL/.. of the archive (tests/data/README.md tells its keys), each with so many rows of `hidden`
// values. A row wider than the model's is some of those end to end, a narrower one the start of one; weight and
// bias likewise. Throws std::runtime_error if there is no such layer.
std::vector<RealLayer> load_real_layers(const Npz &archive, const std::string &model, int64_t rows,
                                        int64_t hidden);

}  // namespace normforge
