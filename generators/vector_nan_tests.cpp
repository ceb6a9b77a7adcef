#include "generators/vector_nan_tests.h"

namespace normforge {

using namespace Halide;
using namespace Halide::Internal;

Expr VectorNanTests::visit(const Call *op) {
    if (op->name != "is_nan_f32" || op->type.is_scalar()) {
        return IRMutator::visit(op);
    }
    constexpr int32_t kInfinity = 0x7f800000;
    const int lanes = op->type.lanes();
    Expr bits = reinterpret(Int(32, lanes), mutate(op->args[0]));
    return (bits & make_const(Int(32, lanes), INT32_MAX)) > make_const(Int(32, lanes), kInfinity);
}

}  // namespace normforge
