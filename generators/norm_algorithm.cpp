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

// What a row is normalised by: (x - centre - centre_error) / sqrt(mean_square + epsilon).
struct RowStatistics {
    Func centre;  // undefined for rms_norm
    Func centre_error;
    Expr mean_square;  // f64; of layer_norm the variance
};

RowStatistics rms_statistics(NormStages &stages, const RowReading &reading, const Expr &hidden) {
    stages.passes.push_back(sum_of_squares(stages.vars, reading));
    return {{}, {}, cast<double>(stages.passes.back().total(stages.vars.r)) / hidden};
}

RowStatistics layer_statistics(NormStages &stages, const RowReading &reading, const Expr &hidden, int sums) {
    const Var &r = stages.vars.r;
    Expr pivot;
    if (sums == kTwoPass) {
        stages.passes.push_back(sum_of_values(stages.vars, reading));
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
    // The mean's f32 rounding is kept apart and taken off too, so a row of large mean and tiny spread keeps its
    // digits, and a row of equal values gives exactly zero.
    Func centre = row_value(stages, "centre", cast<float>(mean(r)));
    Func centre_error = row_value(stages, "centre_error", cast<float>(mean(r) - cast<double>(centre(r))));
    // Rounding can leave a tiny negative sum.
    Expr about_mean = squares - sum * (sum / hidden);
    Expr zero = cast<double>(0);
    return {centre, centre_error, select(about_mean < zero, zero, about_mean) / hidden};
}

// y from the row's end to its start: steps as wide as the schedule writes at once, counted backwards.
void write_descending(NormStages &stages, const Func &normalised, int hidden, int step_width) {
    const Var &r = stages.vars.r;
    const int steps = (hidden + step_width - 1) / step_width;
    RDom written(0, step_width, 0, steps, "written");
    Expr place = written.x + step_width * (steps - 1 - written.y);
    if (hidden % step_width != 0) {
        written.where(place < hidden);
    }
    stages.y(stages.vars.i, r) = undef<float>();
    stages.y(place, r) = normalised(place, r);
    stages.written_value = written.x;
    stages.written_step = written.y;
}

}  // namespace

NormStages define_norm(const NormProblem &problem, const Knobs &knobs, const NormInputs &inputs) {
    NormStages stages;
    const Var &i = stages.vars.i;
    const Var &r = stages.vars.r;
    const RowReading reading{inputs.x, static_cast<int>(problem.hidden), knobs.lanes()};
    Expr hidden = Expr(static_cast<double>(problem.hidden));
    const RowStatistics statistics = problem.op == NF_RMS_NORM
                                         ? rms_statistics(stages, reading, hidden)
                                         : layer_statistics(stages, reading, hidden, knobs.sums);
    Expr denominator = sqrt(statistics.mean_square + cast<double>(inputs.epsilon));
    Func rstd = row_value(stages, "rstd", cast<float>(cast<double>(1) / denominator));

    Expr value = inputs.x(i, r);
    if (statistics.centre.defined()) {
        value = (value - statistics.centre(r)) - statistics.centre_error(r);
    }
    value *= rstd(r);
    if (inputs.weight.defined()) {
        value *= inputs.weight(i);
    }
    if (inputs.bias.defined()) {
        value += inputs.bias(i);
    }
    Func normalised("normalised");
    normalised(i, r) = value;
    stages.y = Func("y");
    if (knobs.writing == kDescending) {
        write_descending(stages, normalised, reading.hidden, knobs.vector * knobs.unroll);
    } else {
        stages.y(i, r) = normalised(i, r);
    }
    return stages;
}

}  // namespace normforge
