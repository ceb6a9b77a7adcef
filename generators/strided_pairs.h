#pragma once

#include "Halide.h"

namespace normforge {

// Has the two halves of pairs of neighbours taken from one dense vector. Halide's own stage does so for most, but
// compares addresses as they are written: where an address has been given a name for each half, as in blocks of
// rows with a residual, it loads each half by itself, by two vectors that overlap. 64 rows of 1024 bf16 values
// with a residual in blocks of 4 take 0.69 of the time with one vector (layer_norm, Intel Xeon with AVX-512).
class StridedPairs : public Halide::Internal::IRMutator {
private:
    using Halide::Internal::IRMutator::visit;
    Halide::Expr visit(const Halide::Internal::Shuffle *op) override;
    Halide::Expr visit(const Halide::Internal::Let *op) override;
    Halide::Internal::Stmt visit(const Halide::Internal::LetStmt *op) override;

    // A dense and unconditional load, and the name of what it was loaded into, if it has one.
    struct DenseLoad {
        const Halide::Internal::Load *load = nullptr;
        std::string name;
    };
    DenseLoad half_slice(const Halide::Expr &value, int first) const;

    bool begins_with_second(const Halide::Internal::Load *front) const;
    Halide::Expr pairs_of(const Halide::Internal::Load *front) const;

    template <typename LetOrLetStmt>
    auto visit_let(const LetOrLetStmt *op);

    Halide::Internal::Scope<const Halide::Internal::Load *> loaded_;
    Halide::Internal::Scope<Halide::Expr> places_;  // named numbers
};

}  // namespace normforge
