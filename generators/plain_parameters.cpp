#include "generators/plain_parameters.h"

namespace normforge {

using namespace Halide;
using namespace Halide::Internal;

namespace {

// What Halide reads from an argument of the host's function.
bool is_field_of_argument(const Expr &value) {
    const Call *call = value.as<Call>();
    return call && call->name.starts_with("_halide_buffer_get_");
}

}  // namespace

Stmt PlainParameters::visit(const LetStmt *op) {
    if (is_field_of_argument(op->value)) {
        return IRMutator::visit(op);
    }
    return mutate(substitute(op->name, op->value, op->body));
}

Stmt PlainParameters::visit(const For *op) {
    return op->for_type == ForType::GPUBlock ? Stmt(op) : IRMutator::visit(op);
}

}  // namespace normforge
