#pragma once

#include "Halide.h"

namespace normforge {

// Has threads move whole vectors: Halide's PTX back end moves 16 bytes at once only as four values of 32 bits, and
// else 8 at most. So what a thread moves of a dense and aligned vector of 16-bit values becomes words of 32 bits,
// and what is longer than 16 bytes parts of 16 bytes. Operands are moved by vectors only as far as the alignment
// of their buffers goes, which Halide's back end does not look at.
class WideAccesses : public Halide::Internal::IRMutator {
private:
    using Halide::Internal::IRMutator::visit;
    Halide::Expr visit(const Halide::Internal::Load *op) override;
    Halide::Internal::Stmt visit(const Halide::Internal::Store *op) override;
};

}  // namespace normforge
