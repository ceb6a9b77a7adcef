#include "generators/rare_rows.h"

namespace normforge {

using namespace Halide;

RareRows::RareRows(NormStages &stages, const Expr &is_usual, int hidden)
    : stages_(stages), hidden_(hidden), place_(0, hidden, "place"), once_(0, 1, "once") {
    Func usual = row_value(stages, "is_usual", is_usual);
    place_.where(!usual(stages.vars.r));
    once_.where(!usual(stages.vars.r));
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
