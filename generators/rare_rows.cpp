#include "generators/rare_rows.h"

namespace normforge {

using namespace Halide;

RareRows::RareRows(NormStages &stages, const Expr &is_usual, int hidden, int block)
    : stages_(stages), hidden_(hidden), place_(0, hidden, "place"), once_(0, 1, "once") {
    const Var &r = stages.vars.r;
    Func usual = row_value(stages, "is_usual", is_usual);
    all_usual_ = usual(r);
    if (block > 1) {
        Func any("any_rare");
        Var b("b");
        RDom k(0, block);
        any(b) = cast<bool>(false);
        any(b) = any(b) || !usual(b * block + k);
        stages.block_values.push_back(any);
        place_.where(any(r / block));
        once_.where(any(r / block));
        all_usual_ = !any(r / block);
    }
    place_.where(!usual(r));
    once_.where(!usual(r));
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
    Func f = row_value(stages_, name, usual);
    f(r) = select_any(place_ == 0, Expr(0.0), f(r)) + term(place_) / Expr(static_cast<double>(hidden_));
    return f;
}

}  // namespace normforge
