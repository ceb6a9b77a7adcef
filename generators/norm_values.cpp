#include "generators/norm_values.h"

#include <string>

#include "generators/row_reduction.h"

namespace normforge {

using namespace Halide;

NormValues::NormValues(const NormProblem &problem, const NormInputs &inputs, const ValueConversion &conversion)
    : problem_(problem), inputs_(inputs), conversion_(conversion), h_("h") {
    const Var i("i"), r("r");
    h_(i, r) = sum_of(addends(i, r));
}

std::vector<Expr> NormValues::addends(const Expr &i, const Expr &r) const {
    std::vector<Expr> result = {inputs_.funcs.at(has(OperandId::x) ? OperandId::x : OperandId::sum)(i, r)};
    if (has(OperandId::residual)) {
        result.push_back(inputs_.funcs.at(OperandId::residual)(i, r));
    }
    return result;
}

Expr NormValues::sum_of(const std::vector<Expr> &addends) const {
    auto next = addends.begin();
    if (!has(OperandId::x)) {
        return load(OperandId::sum, *next);
    }
    Expr x = load(OperandId::x, *next++);
    return has(OperandId::residual) ? rounded(x + load(OperandId::residual, *next), problem_.statistics) : x;
}

Expr NormValues::load(OperandId id, const Expr &stored) const {
    return conversion_.to_f32(stored, type(id));
}

Expr NormValues::value(OperandId id, const Expr &i, const Expr &r) const {
    return load(id, stored_value(id, i, r));
}

Expr NormValues::row_value(OperandId id, const Expr &r) const {
    return load(id, inputs_.funcs.at(id)(r));
}

Expr NormValues::weight(const Expr &i) const {
    return weight_of(stored_weight(i));
}

Expr NormValues::weight_of(const Expr &stored) const {
    Expr weight = load(OperandId::weight, stored);
    return problem_.weight_offset == NF_OFFSET_ONE ? weight + 1.0f : weight;
}

Expr NormValues::bias(const Expr &i) const {
    return load(OperandId::bias, inputs_.funcs.at(OperandId::bias)(i));
}

Expr NormValues::stored(OperandId id, const Expr &value) const {
    return conversion_.from_f32(value, type(id));
}

Func row_value(NormStages &stages, const std::string &name, const Expr &value) {
    Func f(name);
    f(stages.vars.r) = value;
    stages.row_values.push_back(f);
    return f;
}

namespace {

// Steps as wide as the schedule writes at once, counted backwards.
void write_descending(NormStages &stages, const Func &values, int hidden, const Knobs &knobs) {
    const Var &r = stages.vars.r;
    const int step_width = knobs.vector * knobs.unroll;
    const int steps = (hidden + step_width - 1) / step_width;
    const int together = stages.pairs.written ? 2 : 1;
    RDom written({{0, knobs.vector}, {0, together}, {0, knobs.unroll / together}, {0, steps}}, "written");
    Expr place =
        step_width * (steps - 1 - written.w) + together * (knobs.vector * written.z + written.x) + written.y;
    if (hidden % step_width != 0) {
        written.where(place < hidden);
    }
    std::vector<Expr> nothing;
    for (const Type &type : values.types()) {
        nothing.push_back(undef(type));
    }
    stages.rows(stages.vars.i, r) = Tuple(nothing);
    stages.rows(place, r) = Tuple(elements(values(place, r)));
    stages.written = {written.x, written.y, written.z, written.w};
}

}  // namespace

void define_rows(NormStages &stages, const Func &values, int hidden, const Knobs &knobs) {
    stages.rows = Func("rows");
    if (knobs.writing == kDescending) {
        write_descending(stages, values, hidden, knobs);
    } else {
        stages.rows(stages.vars.i, stages.vars.r) = Tuple(elements(values(stages.vars.i, stages.vars.r)));
    }
}

}  // namespace normforge
