#include "generators/rare_rows.h"

namespace normforge {

using namespace Halide;

namespace {

// Vectors of them hide the latency of the sums.
constexpr int kRareLanes = 16;

// In a tree, whose order is the same on every target.
Expr total(const Func &lanes, const Expr &r, int first, int count) {
    return count == 1 ? Expr(lanes(first, r))
                      : total(lanes, r, first, count / 2) + total(lanes, r, first + count / 2, count / 2);
}

}  // namespace

Expr all_of_block(NormStages &stages, const Func &holds, int block) {
    const Var &r = stages.vars.r;
    if (block == 1) {
        return holds(r);
    }
    Func any("any_not_" + holds.name());
    Var b("b");
    RDom k(0, block);
    any(b) = cast<bool>(false);
    any(b) = any(b) || !holds(b * block + k);
    stages.block_values.push_back(any);
    return !any(r / block);
}

RareRows::RareRows(NormStages &stages, const Expr &is_usual, int hidden, int block)
    : stages_(stages), hidden_(hidden), once_(0, 1, "once") {
    // Kept, and then negated: not to be below a number is not to be above it, and false for a NaN as well.
    const Func usual = row_value(stages, "is_usual", is_usual);
    all_usual_ = all_of_block(stages, usual, block);
    is_usual_ = usual(stages.vars.r);
    restrict(once_);
}

// Of a block's rows the rare ones take their branches within one around the block.
void RareRows::restrict(RDom &domain) const {
    domain.where(!all_usual_);
    domain.where(!is_usual_);
}

Func RareRows::value(const std::string &name, const Expr &usual, const Expr &rare) {
    const Var &r = stages_.vars.r;
    Func f = row_value(stages_, name, usual);
    // An update has the domain, and so the condition, of what it mentions.
    f(r) = select_any(once_ == 0, rare, f(r));
    return f;
}

Func RareRows::mean(const std::string &name, const Expr &usual,
                    const std::function<Expr(const Expr &place)> &term) {
    const Var &r = stages_.vars.r;
    const Var &l = stages_.vars.l;
    RareSums sums;
    sums.lanes = Func(name + "_lanes");
    sums.extent = kRareLanes;
    sums.lanes(l, r) = undef<double>();
    sums.lanes(l, r) = select(once_ == 0, Expr(0.0), sums.lanes(l, r));
    const int steps = hidden_ / kRareLanes;
    if (steps > 0) {
        RDom step(0, steps, "rare_step");
        restrict(step);
        sums.lanes(l, r) += term(step * kRareLanes + l);
        sums.step = step.x;
    }
    if (hidden_ % kRareLanes > 0) {
        RDom tail(0, hidden_ % kRareLanes, "rare_tail");
        restrict(tail);
        sums.lanes(tail, r) += term(steps * kRareLanes + tail);
    }
    Expr sum = total(sums.lanes, r, 0, kRareLanes);
    sums.of = value(name, usual, sum / Expr(static_cast<double>(hidden_)));
    sums.once = once_.x;
    stages_.rare_sums.push_back(sums);
    return sums.of;
}

}  // namespace normforge
