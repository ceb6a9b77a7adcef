#pragma once

#include "Halide.h"

namespace normforge {

// Tests vectors for NaN by their bits: Halide's OpenCL back end has no call for that but of single values.
class VectorNanTests : public Halide::Internal::IRMutator {
private:
    using Halide::Internal::IRMutator::visit;
    Halide::Expr visit(const Halide::Internal::Call *op) override;
};

}  // namespace normforge
