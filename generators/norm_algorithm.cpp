#include "generators/norm_algorithm.h"

#include "generators/norm_formulas.h"
#include "generators/norm_gradient.h"
#include "generators/norm_values.h"
#include "generators/rare_rows.h"
#include "generators/row_reduction.h"

namespace normforge {

using namespace Halide;

namespace {

// A row's moments are in f32's range if their squares are, with room for the sums and for the digits of the
// smallest.
constexpr double kLargestSquare = 0x1p126;
constexpr double kSmallestSquare = 0x1p-126;

// So many variances the square of a row's distance from its one pivot may be, at which its sums lose 4 bits.
constexpr double kFurthestPivot = 16;

// In deviations of the row: an error of the mean that is lost beside those of the sums.
constexpr float kLeastCentreError = 0x1p-26f;

// What a row is normalised by: ((h * scale - centre) - centre_error) * rstd. Where numbers or quotients leave
// f32's range, values are brought near 1 first, by a power of two, and rstd takes it back.
struct RowStatistics {
    Func mean;          // f64; undefined for rms_norm
    Func denominator;   // f64
    Func scale;         // f32; undefined where all rows are in range
    Func rstd_scale;    // f64, its inverse
    Expr is_plain;      // of the row, or of its block: scale is 1, and centre_error is 0
    Func centre;        // f32; undefined for rms_norm
    Func centre_error;  // f32
    Func rstd;          // f32, of what is scaled
};

// About a mean of pivot + offset, which the pivot's digits alone would not hold. All f64.
struct Moments {
    Func pivot, offset;  // undefined for rms_norm
    Func mean_square;
};

class ForwardPass {
public:
    ForwardPass(const NormProblem &problem, const Knobs &knobs, const ValuePairs &pairs, const NormValues &values,
                const Expr &rows)
        : problem_(problem), knobs_(knobs), values_(values),
          formulas_(problem, values), row_{static_cast<int>(problem.hidden), knobs.lanes(), pairs.summed},
          hidden_(static_cast<double>(problem.hidden)), summed_("summed") {
        stages_.pairs = pairs;
        // A block is always summed whole: where there are no more rows, it is the last one once more.
        summed_(i_, r_) = values_.h()(i_, knobs.block > 1 ? min(r_, rows - 1) : r_);
    }

    NormStages define() {
        const RowStatistics row = statistics();
        Func y = with_affine(normalised(row));
        Func scales = define_scales(y);
        std::vector<Expr> outputs = {formulas_.stored_y(y(i_, r_), scales.defined() ? Expr(scales(r_)) : Expr())};
        if (values_.has(OperandId::sum)) {
            outputs.push_back(values_.stored(OperandId::sum, values_.h()(i_, r_)));
        }
        Func written("written");
        written(i_, r_) = Tuple(outputs);
        define_rows(stages_, written, row_.hidden, knobs_);
        define_saved(row, scales);
        return stages_;
    }

private:
    Func row_value(const std::string &name, const Expr &value) {
        return normforge::row_value(stages_, name, value);
    }

    Expr h(const Expr &i) const { return summed_(i, r_); }

    const RowPass &reduce(const Reduction &reduction) {
        stages_.passes.push_back(reduce_row(stages_.vars, row_, reduction));
        return stages_.passes.back();
    }

    // Runs are short: equal values have equal rounding errors, which add up. At 16 that is lost in the last place
    // of y, and the time is that of runs of 64; at 8 it is 3 % longer (4096 values, Zen 4).
    Moments plain_moments() {
        const auto square = [this](const Expr &i, const Expr &) { return Reduction::Terms{h(i) * h(i)}; };
        const RowPass &squares = reduce({"squares", square, Reduction::sum, 16});
        return {{}, {}, row_value("mean_square", squares.total(r_) / hidden_)};
    }

    Moments pivoted_moments() {
        Expr pivot;
        if (knobs_.sums == kTwoPass) {
            const RowPass &sum =
                reduce({"values", [this](const Expr &i, const Expr &) { return Reduction::Terms{h(i)}; }});
            Func row_pivot = row_value("row_pivot", cast<float>(sum.total(r_) / hidden_));
            reduce({"moments", [this, row_pivot](const Expr &i, const Expr &r) {
                        Expr d = h(i) - row_pivot(r);
                        return Reduction::Terms{d, d * d};
                    }});
            pivot = row_pivot(r_);
        } else {
            stages_.passes.push_back(moments_about_row_pivot(stages_.vars, row_, summed_));
            pivot = stages_.passes.back().total(r_)[2];
        }
        Expr sum = stages_.passes.back().total(r_)[0];
        Expr squares = stages_.passes.back().total(r_)[1];
        // Rounding can leave a tiny negative sum. A NaN stays one.
        Expr about_mean = squares - sum * (sum / hidden_);
        Expr zero = cast<double>(0);
        return {row_value("pivot", cast<double>(pivot)), row_value("offset", sum / hidden_),
                row_value("mean_square", select_any(about_mean < zero, zero, about_mean) / hidden_)};
    }

    RowStatistics statistics() {
        Moments moments = problem_.op == NF_RMS_NORM ? plain_moments() : pivoted_moments();
        RowStatistics row;
        if (values_.has_wide_range() || knobs_.sums == kRowPivot) {
            sum_rare_rows(moments, row);
        }
        if (moments.pivot.defined()) {
            row.mean = row_value("mean", moments.pivot(r_) + moments.offset(r_));
        }
        row.denominator =
            row_value("denominator", formulas_.denominator(moments.mean_square(r_),
                                                           cast<double>(values_.number(OperandId::epsilon))));
        Expr one = row.scale.defined() ? row.rstd_scale(r_) : Expr(1.0);
        row.rstd = row_value("scaled_rstd", cast<float>(one / row.denominator(r_)));
        if (row.mean.defined()) {
            define_centre(row);
        }
        return row;
    }

    void define_centre(RowStatistics &row) {
        Expr mean = row.scale.defined() ? row.mean(r_) * cast<double>(row.scale(r_)) : row.mean(r_);
        row.centre = row_value("centre", cast<float>(mean));
        Expr error = cast<float>(mean - cast<double>(row.centre(r_)));
        Expr is_lost = abs(error) * row.rstd(r_) < kLeastCentreError;
        row.centre_error = row_value("centre_error", select_any(is_lost, 0.0f, error));
        Expr is_plain = row.centre_error(r_) == 0.0f;
        if (row.scale.defined()) {
            is_plain = is_plain && row.scale(r_) == 1.0f;
        }
        row.is_plain = all_of_block(stages_, row_value("is_plain", is_plain), knobs_.block);
    }

    // Rows beyond f32's range, and rows far from their pivot, are rare: theirs alone are summed once more, in f64.
    void sum_rare_rows(Moments &moments, RowStatistics &row) {
        Expr epsilon = cast<double>(values_.number(OperandId::epsilon));
        Expr added = problem_.epsilon_place == NF_IN_ROOT ? epsilon : epsilon * epsilon;
        Expr square = moments.mean_square(r_);
        Expr is_usual = cast<bool>(true);
        if (values_.has_wide_range()) {
            is_usual = square < Expr(kLargestSquare) && square + added >= Expr(kSmallestSquare);
        }
        if (knobs_.sums == kRowPivot) {
            is_usual = is_usual && moments.offset(r_) * moments.offset(r_) <= Expr(kFurthestPivot) * square;
        }
        RareRows rare(stages_, is_usual, row_.hidden, knobs_.block);
        const auto value = [this](const Expr &place) { return cast<double>(h(place)); };
        const bool has_mean = moments.pivot.defined();
        if (has_mean) {
            // About the first value, so that equal values have no distance at all.
            moments.pivot = rare.value("any_pivot", moments.pivot(r_), value(0));
            moments.offset = rare.mean("any_offset", moments.offset(r_),
                                       [&](const Expr &place) { return value(place) - moments.pivot(r_); });
        }
        moments.mean_square = rare.mean("any_mean_square", square, [&](const Expr &place) {
            Expr distance = has_mean ? value(place) - (moments.pivot(r_) + moments.offset(r_)) : value(place);
            return distance * distance;
        });
        if (!values_.has_wide_range()) {
            return;
        }
        square = moments.mean_square(r_);
        Expr is_tiny = square + added < Expr(kSmallestSquare);
        if (has_mean) {
            is_tiny =
                is_tiny && abs(moments.pivot(r_)) < Expr(1.0);  // else all values are equal, and may be large
        }
        const auto by_size = [&](const Expr &huge, const Expr &tiny, const Expr &other) {
            return select(square >= Expr(kLargestSquare), huge, is_tiny, tiny, other);
        };
        row.scale = rare.value("scale", 1.0f, by_size(0x1p-64f, 0x1p64f, 1.0f));
        if (!has_mean) {
            row.is_plain = rare.all_usual();  // else the mean decides as well
        }
        row.rstd_scale = rare.value("rstd_scale", Expr(1.0), by_size(Expr(0x1p64), Expr(0x1p-64), Expr(1.0)));
    }

    // Most rows are plain ones. The LLVM stage makes a loop of its own for these, of rows of two whole steps and
    // more: with less, layer_norm of 72 to 112 values takes 1.05 to 1.2 of the time with it (Zen 4).
    Func normalised(const RowStatistics &row) {
        Expr value = values_.h()(i_, r_);
        Expr scaled = row.scale.defined() ? value * row.scale(r_) : value;
        Expr centre, centre_error;
        Expr plain = value;
        if (row.mean.defined()) {
            centre = row.centre(r_);
            centre_error = row.centre_error(r_);
            plain = value - centre;
        }
        Expr distance = formulas_.distance(scaled, centre, centre_error);
        const bool is_looped = row_.hidden >= 2 * knobs_.vector * knobs_.unroll;
        if (row.is_plain.defined() && is_looped) {
            distance = select_any(row.is_plain, plain, distance);
        }
        Func normalised("normalised");
        normalised(i_, r_) = formulas_.normalised(distance, row.rstd(r_));
        return normalised;
    }

    Func with_affine(const Func &normalised) {
        Func y("y");
        y(i_, r_) = formulas_.with_affine(normalised(i_, r_), i_);
        return y;
    }

    // Each row's scale, from the largest magnitude of its values.
    Func define_scales(const Func &y) {
        if (!values_.has(OperandId::scales)) {
            return {};
        }
        const RowPass &magnitudes = reduce(
            {"magnitudes",
             [y](const Expr &i, const Expr &r) { return Reduction::Terms{reinterpret<int32_t>(abs(y(i, r)))}; },
             Reduction::maximum});
        return row_value("scales", formulas_.row_scale(magnitudes.total(r_)));
    }

    void define_saved(const RowStatistics &row, const Func &scales) {
        std::vector<Expr> saved;
        if (values_.has(OperandId::mean)) {
            saved.push_back(cast<float>(row.mean(r_)));
        }
        if (values_.has(OperandId::rstd)) {
            saved.push_back(cast<float>(cast<double>(1) / row.denominator(r_)));
        }
        if (values_.has(OperandId::scales)) {
            saved.push_back(scales(r_));
        }
        if (!saved.empty()) {
            stages_.saved = Func("saved");
            stages_.saved(r_) = Tuple(saved);
        }
    }

    const NormProblem &problem_;
    const Knobs &knobs_;
    const NormValues &values_;
    const NormFormulas formulas_;
    const RowLanes row_;
    const Expr hidden_;
    Func summed_;  // (i, r): h, of rows that may be beyond the last one
    NormStages stages_;
    const Var i_ = stages_.vars.i;
    const Var r_ = stages_.vars.r;
};

}  // namespace

NormStages define_norm(const NormProblem &problem, const Knobs &knobs, const ValuePairs &pairs,
                       const NormInputs &inputs, const ValueConversion &conversion) {
    const NormValues values(problem, inputs, conversion);
    return problem.pass == NF_BACKWARD ? define_gradient(problem, knobs, pairs, values)
                                       : ForwardPass(problem, knobs, pairs, values, inputs.rows).define();
}

}  // namespace normforge
