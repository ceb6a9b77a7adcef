#include "generators/strided_pairs.h"

namespace normforge {

using namespace Halide;
using namespace Halide::Internal;

namespace {

const Load *dense_load(const Expr &value) {
    const Load *load = value.as<Load>();
    const Ramp *ramp = load ? load->index.as<Ramp>() : nullptr;
    return ramp && is_const_one(ramp->stride) && is_const_one(load->predicate) ? load : nullptr;
}

Expr first_place(const Load *load) {
    return load->index.as<Ramp>()->base;
}

// What names stand for, in their place.
class NamedPlaces : public IRMutator {
public:
    explicit NamedPlaces(const Scope<Expr> &places) : places_(places) {}

private:
    using IRMutator::visit;
    Expr visit(const Variable *op) override {
        return places_.contains(op->name) ? mutate(places_.get(op->name)) : Expr(op);
    }

    const Scope<Expr> &places_;
};

std::string pairs_name(const std::string &name) {
    return name + ".pairs";
}

}  // namespace

// Pairs begin an even number of values behind the row, their second values one later. What else a place is made
// of, the row's own and multiples of whole vectors, is added to that number.
bool StridedPairs::begins_with_second(const Load *front) const {
    const Expr place = simplify(NamedPlaces(places_).mutate(first_place(front)));
    const Add *sum = place.as<Add>();
    const auto offset = as_const_int(sum ? sum->b : place);
    return offset && *offset % 2 != 0;
}

// All of the pairs whose first or second values the load is the front half of.
Expr StridedPairs::pairs_of(const Load *front) const {
    const int lanes = 2 * front->type.lanes();
    const Expr place = first_place(front);
    const Expr begin = begins_with_second(front) ? simplify(place - 1) : place;
    return Load::make(front->type.with_lanes(lanes), front->name, Ramp::make(begin, 1, lanes), front->image,
                      front->param, const_true(lanes), ModulusRemainder());
}

// Every second value, from `first` on, of a dense load.
StridedPairs::DenseLoad StridedPairs::half_slice(const Expr &value, int first) const {
    const Shuffle *slice = value.as<Shuffle>();
    if (!slice || !slice->is_slice() || slice->vectors.size() != 1 || slice->slice_begin() != first ||
        slice->slice_stride() != 2 || slice->vectors[0].type().lanes() != 2 * slice->type.lanes()) {
        return {};
    }
    if (const Variable *variable = slice->vectors[0].as<Variable>()) {
        return loaded_.contains(variable->name) ? DenseLoad{loaded_.get(variable->name), variable->name}
                                                : DenseLoad{};
    }
    return {dense_load(slice->vectors[0]), ""};
}

// Halide loads no value that it does not need, so the vector of the last pairs begins one value early. The second
// values are read in the same step as the first ones, so the pairs' last value may be read for either.
Expr StridedPairs::visit(const Shuffle *op) {
    if (!op->is_concat() || op->vectors.size() != 2) {
        return IRMutator::visit(op);
    }
    const DenseLoad front = half_slice(op->vectors[0], 0);
    const DenseLoad back = half_slice(op->vectors[1], 1);
    if (!front.load || !back.load || back.load->name != front.load->name || back.load->type != front.load->type) {
        return IRMutator::visit(op);
    }
    const int lanes = front.load->type.lanes();
    if (!is_const(simplify(first_place(back.load) - first_place(front.load)), lanes - 1)) {
        return IRMutator::visit(op);
    }
    const Expr pairs = front.name.empty()
                           ? pairs_of(front.load)
                           : Variable::make(front.load->type.with_lanes(2 * lanes), pairs_name(front.name));
    return Shuffle::make_slice(pairs, begins_with_second(front.load) ? 1 : 0, 2, lanes);
}

// The pairs are loaded where the half was: behind a store they might be others.
template <typename LetOrLetStmt>
auto StridedPairs::visit_let(const LetOrLetStmt *op) {
    const Load *load = dense_load(op->value);
    if (!load) {
        const ScopedBinding<Expr> bound(op->value.type() == Int(32), places_, op->name, op->value);
        return IRMutator::visit(op);
    }
    const ScopedBinding<const Load *> bound(loaded_, op->name, load);
    auto body = mutate(op->body);
    const std::string pairs = pairs_name(op->name);
    if (stmt_or_expr_uses_var(body, pairs)) {
        body = LetOrLetStmt::make(pairs, pairs_of(load), body);
    }
    return LetOrLetStmt::make(op->name, mutate(op->value), body);
}

Expr StridedPairs::visit(const Let *op) {
    return visit_let(op);
}

Stmt StridedPairs::visit(const LetStmt *op) {
    return visit_let(op);
}

}  // namespace normforge
