#include "generators/norm_algorithm.h"

#include <string>

#include "generators/row_moments.h"

namespace normforge {

using namespace Halide;

namespace {

Func row_value(NormStages &stages, const std::string &name, const Expr &value) {
    Func f(name);
    f(stages.vars.r) = value;
    stages.row_values.push_back(f);
    return f;
}

}  // namespace

NormStages define_norm(const NormProblem &problem, const Knobs &knobs, const NormInputs &inputs) {
    NormStages stages;
    const Var &i = stages.vars.i;
    const Var &r = stages.vars.r;
    // The last pass before the values are written, which goes from the row's start.
    RowReading reading{inputs.x, static_cast<int>(problem.hidden), knobs.lanes(), knobs.reading == kDescending};
    Expr hidden = Expr(static_cast<double>(problem.hidden));

    Expr centred = inputs.x(i, r);
    Expr mean_square;
    if (knobs.sums == kPlain) {
        stages.passes.push_back(sum_of_squares(stages.vars, reading));
        mean_square = cast<double>(stages.passes.back().total(r)) / hidden;
    } else {
        Expr pivot;
        if (knobs.sums == kTwoPass) {
            RowReading first_reading = reading;
            first_reading.descending = !reading.descending;
            stages.passes.push_back(sum_of_values(stages.vars, first_reading));
            Func row_pivot = row_value(stages, "row_pivot", cast<float>(stages.passes.back().total(r) / hidden));
            stages.passes.push_back(moments_about_row_pivot(stages.vars, reading, row_pivot));
            pivot = row_pivot(r);
        } else {
            stages.passes.push_back(moments_about_lane_pivots(stages.vars, reading));
            pivot = stages.passes.back().reference(r);
        }
        Expr sum = stages.passes.back().total(r)[0];
        Expr squares = stages.passes.back().total(r)[1];
        Func mean = row_value(stages, "mean", cast<double>(pivot) + sum / hidden);
        // The mean's f32 rounding is kept apart and taken off too, so a row of large mean and tiny spread keeps
        // its digits, and a row of equal values gives exactly zero.
        Func centre = row_value(stages, "centre", cast<float>(mean(r)));
        Func centre_error = row_value(stages, "centre_error", cast<float>(mean(r) - cast<double>(centre(r))));
        centred = (centred - centre(r)) - centre_error(r);
        // Rounding can leave a tiny negative variance. select, unlike max, lets a NaN through.
        Expr second = squares - sum * (sum / hidden);
        Expr zero = cast<double>(0);
        mean_square = select(second < zero, zero, second) / hidden;
    }
    Func rstd =
        row_value(stages, "rstd", cast<float>(cast<double>(1) / sqrt(mean_square + cast<double>(inputs.epsilon))));
    Expr value = centred * rstd(r);
    if (inputs.weight.defined()) {
        value *= inputs.weight(i);
    }
    if (inputs.bias.defined()) {
        value += inputs.bias(i);
    }
    stages.y = Func("y");
    stages.y(i, r) = value;
    return stages;
}

}  // namespace normforge
