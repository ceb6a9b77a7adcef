#pragma once

#include "Halide.h"

namespace normforge {

// Has kernels compute for themselves what Halide would on the host, so that their parameters are what the call
// has. For Pipeline::add_custom_lowering_pass, whose passes run before kernels are taken out of the host's code.
class PlainParameters : public Halide::Internal::IRMutator {
private:
    using Halide::Internal::IRMutator::visit;
    Halide::Internal::Stmt visit(const Halide::Internal::LetStmt *op) override;
    Halide::Internal::Stmt visit(const Halide::Internal::For *op) override;
};

}  // namespace normforge
