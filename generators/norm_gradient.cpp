#include "generators/norm_gradient.h"

#include "generators/rare_rows.h"
#include "generators/row_reduction.h"
#include "runtime/kernel_table.h"

namespace normforge {

using namespace Halide;

namespace {

class BackwardPass {
public:
    BackwardPass(const NormProblem &problem, const Knobs &knobs, const ValuePairs &pairs, const NormValues &values)
        : problem_(problem), knobs_(knobs),
          values_(values), row_{static_cast<int>(problem.hidden), knobs.lanes(), pairs.summed},
          has_mean_(problem.op == NF_LAYER_NORM) {
        stages_.pairs = pairs;
    }

    NormStages define() {
        define_slice_values();
        define_rows();
        return stages_;
    }

private:
    // What a row's sums come to.
    enum RowValue { kCentreError, kMeanGradient, kProjection };

    Expr slice_value(RowValue which, const Expr &r) const { return stages_.slice_values(r)[which]; }

    Expr rstd(const Expr &r) const { return values_.row_value(OperandId::rstd, r); }

    // From the saved mean.
    Expr distance(const Expr &i, const Expr &r) const {
        Expr h = values_.h()(i, r);
        return has_mean_ ? h - values_.row_value(OperandId::mean, r) : h;
    }

    Expr weighted_gradient(const Expr &i, const Expr &r) const {
        Expr gradient = values_.value(OperandId::dy, i, r);
        return values_.has(OperandId::weight) ? gradient * values_.weight(i) : gradient;
    }

    Expr normalised(const Expr &i, const Expr &r) const {
        Expr centred = has_mean_ ? distance(i, r) - slice_value(kCentreError, r) : distance(i, r);
        return centred * rstd(r);
    }

    void define_slice_values() {
        const bool on_deviation = problem_.epsilon_place == NF_ON_DEVIATION;
        stages_.passes.push_back(
            reduce_row(stages_.vars, row_, {"gradients", [this, on_deviation](const Expr &i, const Expr &r) {
                                                Expr gradient = weighted_gradient(i, r);
                                                Expr scaled = distance(i, r) * rstd(r);
                                                Reduction::Terms terms = {gradient * scaled};
                                                if (on_deviation) {
                                                    terms.push_back(scaled * scaled);
                                                }
                                                if (has_mean_) {
                                                    terms.push_back(gradient);
                                                    terms.push_back(distance(i, r));
                                                }
                                                return terms;
                                            }}));
        const std::vector<Expr> totals = elements(stages_.passes.back().total(r_));
        const auto mean = [&](size_t term) { return totals[term] / hidden_; };
        Expr zero = cast<double>(0);
        Expr centre_error = zero, mean_gradient = zero, projection = mean(0);
        Expr about_saved = on_deviation ? mean_of_squares(mean(1)) : zero;
        Expr mean_square = about_saved;
        if (has_mean_) {
            // The sums were taken about the saved mean.
            centre_error = mean(totals.size() - 1);
            mean_gradient = mean(totals.size() - 2);
            Expr scaled_error = centre_error * cast<double>(rstd(r_));
            projection -= scaled_error * mean_gradient;
            mean_square -= scaled_error * scaled_error;
        }
        if (on_deviation) {
            // In a row of equal values no value is away from the mean: the projection is zero, and stays zero
            // divided by what cannot be. Rounding of the sums must not make a divisor out of nothing either.
            projection /= sqrt(max(mean_square, about_saved * Expr(0x1p-40)) + Expr(0x1p-1000));
        }
        stages_.slice_values = Func("slice_values");
        stages_.slice_values(r_) =
            Tuple(cast<float>(centre_error), cast<float>(mean_gradient), cast<float>(projection));
        stages_.slice_rows = static_cast<int>(gradient_slice_rows(problem_));
    }

    // The mean of scaled^2, which the row's sums found as `narrow`. Squares of a row whose deviation is small
    // beside epsilon are below f32's range: theirs alone are summed once more, in f64.
    Expr mean_of_squares(const Expr &narrow) {
        RareRows rare(stages_, narrow >= Expr(0x1p-100), row_.hidden);
        return rare.mean("mean_of_squares", narrow, [this](const Expr &place) {
            Expr scaled = cast<double>(distance(place, r_)) * cast<double>(rstd(r_));
            return scaled * scaled;
        })(r_);
    }

    // dx and dresidual, and the partial sums of dweight and dbias in f32, row after row: their rows are one.
    void define_rows() {
        Expr dy = values_.value(OperandId::dy, i_, r_);
        Expr n = normalised(i_, r_);
        Expr inner = weighted_gradient(i_, r_);
        if (has_mean_) {
            inner -= slice_value(kMeanGradient, r_);
        }
        Expr gradient = rstd(r_) * (inner - n * slice_value(kProjection, r_));
        if (values_.has(OperandId::dsum)) {
            gradient += values_.value(OperandId::dsum, i_, r_);
        }
        std::vector<Expr> terms;
        if (values_.has(OperandId::dweight)) {
            terms.push_back(dy * values_.rounded(n, problem_.normalised));
        }
        if (values_.has(OperandId::dbias)) {
            terms.push_back(dy);
        }
        std::vector<OperandId> rows;
        std::vector<Expr> nothing(terms.size(), undef<float>());
        for (const OperandId id : {OperandId::dx, OperandId::dresidual}) {
            if (values_.has(id)) {
                rows.push_back(id);
                nothing.push_back(undef(values_.stored(id, gradient).type()));
            }
        }
        stages_.rows = Func("rows");
        stages_.rows(i_, r_) = Tuple(nothing);
        const auto sum = [this](size_t term) { return Expr(stages_.rows(i_, r_)[static_cast<int>(term)]); };
        if (!terms.empty()) {
            // There is no such row. That dx mentions a sum has Halide compute all values before it stores one, so
            // that no load waits for stores of other addresses that look the same (those of the last 12 bits).
            gradient = select(r_ < 0, sum(0), gradient);
        }
        for (size_t term = 0; term < terms.size(); term++) {
            terms[term] = select(r_ == 0, 0.0f, sum(term)) + terms[term];
        }
        for (const OperandId id : rows) {
            terms.push_back(values_.stored(id, gradient));
        }
        stages_.rows(i_, r_) = Tuple(terms);
    }

    const NormProblem &problem_;
    const Knobs &knobs_;
    const NormValues &values_;
    const RowLanes row_;
    const bool has_mean_;
    const Expr hidden_ = Expr(static_cast<double>(problem_.hidden));
    NormStages stages_;
    const Var i_ = stages_.vars.i;
    const Var r_ = stages_.vars.r;
};

}  // namespace

NormStages define_gradient(const NormProblem &problem, const Knobs &knobs, const ValuePairs &pairs,
                           const NormValues &values) {
    return BackwardPass(problem, knobs, pairs, values).define();
}

}  // namespace normforge
