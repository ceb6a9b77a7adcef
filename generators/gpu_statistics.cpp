#include "generators/gpu_statistics.h"

#include "generators/row_reduction.h"

namespace normforge {

using namespace Halide;

namespace {

using Values = GpuReduction::Values;

// What is left of x when it is brought to 0 where it is below. A NaN stays one.
Expr not_negative(const Expr &x) {
    return select_any(x < 0.0f, 0.0f, x);
}

}  // namespace

GpuStatistics::GpuStatistics(const NormProblem &problem, const GpuKnobs &knobs, const NormValues &values,
                             const NormFormulas &formulas, const GpuVars &vars, GpuReduction &threads)
    : problem_(problem), knobs_(knobs), values_(values), formulas_(formulas), threads_(threads),
      dealt_(thread_values(problem, knobs)), hidden_(static_cast<float>(problem.hidden)), l_(vars.l), w_(vars.w),
      r_(vars.r) {}

// The power of two that brings a row's largest magnitude near 1, and with it every sum into f32's range. Where
// epsilon is what decides, it stays in range as well.
Expr GpuStatistics::scale() {
    if (!values_.has_wide_range()) {
        return {};
    }
    const Func f = threads_.known("scale", [this] {
        Expr epsilon = reinterpret<int32_t>(values_.number(OperandId::epsilon));
        if (problem_.epsilon_place == NF_IN_ROOT) {
            // Half the exponent: near the root.
            epsilon = select(epsilon > 0, (epsilon >> 1) + (127 << 22), 0);
        }
        Expr exponent = max(threads_.total("magnitudes")[0], epsilon) >> 23;
        return Values{reinterpret<float>((254 - clamp(exponent, 127 - 100, 127 + 100)) << 23)};
    });
    return f(l_, w_, r_);
}

Expr GpuStatistics::scaled(const Expr &value) {
    Expr factor = scale();
    return factor.defined() ? value * factor : value;
}

// Near most values of the row, so that what is taken relative to it keeps its digits.
Expr GpuStatistics::reference() {
    const Func f = threads_.known("reference", [this] {
        const int most = dealt_.hidden - 1;
        const auto value = [&](int i) { return scaled(values_.h()(std::min(i, most), r_)); };
        return Values{median_of_three(value(0), value(1), value(2))};
    });
    return f(l_, w_, r_);
}

void GpuStatistics::sum() {
    if (values_.has_wide_range()) {
        threads_.merge_largest_magnitude("magnitudes", [](const GpuValue &value) { return value.h; });
    }
    if (knobs_.sums == kPlain) {
        threads_.merge_sums("moments", threads_.sums("squares_of_thread", [this](const GpuValue &value) {
            Expr h = scaled(value.h);
            return Values{h * h};
        }));
    } else if (knobs_.sums == kTwoPass) {
        threads_.merge_sums("values", threads_.sums("values_of_thread", [this](const GpuValue &value) {
            return Values{scaled(value.h)};
        }));
        const Func pivot =
            threads_.known("pivot", [this] { return Values{threads_.total("values")[0] / hidden_}; });
        threads_.merge_sums("moments", moments_about(pivot));
    } else {
        sum_about_pivots();
    }
}

Func GpuStatistics::moments_about(const Func &pivot) {
    return threads_.sums("moments_of_thread", [this, pivot](const GpuValue &value) {
        Expr d = scaled(value.h) - pivot(l_, w_, r_);
        return Values{d, d * d};
    });
}

// Each thread's about the median of its first three values, then as {reference, sum of (x - reference), sum of
// squares about the mean of what was summed so far} and, if that is not known beforehand, the number of
// values. About the means of both sides, squares never cancel, and the means are taken relative to the
// reference, so that they have no digits of a large one. The reference is kept since where rows are
// overwritten, it cannot be found once more.
void GpuStatistics::sum_about_pivots() {
    const Func pivot = threads_.known("pivot", [this] {
        const auto value = [this](int k) { return scaled(threads_.held(k % dealt_.vector, k / dealt_.vector)); };
        return Values{median_of_three(value(0), value(1), value(2))};
    });
    const Func sums = moments_about(pivot);
    const int equal = threads_.equal_count();
    const Func moments = threads_.known("thread_moments", [&] {
        Expr n = threads_.count();
        Expr sum = sums(l_, w_, r_)[0];
        Expr squares = sums(l_, w_, r_)[1] - sum * (sum / max(n, 1.0f));
        Expr near = reference();
        Values result = {near, sum + n * (pivot(l_, w_, r_) - near), not_negative(squares)};
        if (equal == 0) {
            result.push_back(n);
        }
        return result;
    });
    threads_.merge("moments", moments, [equal](const Values &a, const Values &b, int threads) {
        if (equal > 0) {
            const float share = 0.5f / (static_cast<float>(equal) * static_cast<float>(threads));
            Expr d = a[1] - b[1];
            return Values{a[0], a[1] + b[1], (a[2] + b[2]) + (d * d) * share};
        }
        Expr n = a[3] + b[3];
        Expr d = a[1] / max(a[3], 1.0f) - b[1] / max(b[3], 1.0f);
        return Values{a[0], a[1] + b[1], (a[2] + b[2]) + (d * d) * (a[3] * b[3] / max(n, 1.0f)), n};
    });
}

// Of layer_norm: what the mean is near to, the sum of the distances from it, and that of squares about the
// mean.
Values GpuStatistics::moments() {
    Values moments = threads_.total("moments");
    if (knobs_.sums == kTwoPass) {
        moments.insert(moments.begin(), threads_.total("values")[0] / hidden_);
        moments[2] -= moments[1] * (moments[1] / hidden_);
    }
    return moments;
}

// As one value of each thread: what statistics_of takes apart.
Func GpuStatistics::known() {
    return threads_.known("statistics", [this] {
        Expr epsilon = values_.number(OperandId::epsilon);
        Expr mean_square;
        Values result;
        if (problem_.op == NF_LAYER_NORM) {
            const Values row = moments();
            mean_square = not_negative(row[2]) / hidden_;
            // The mean as two f32: the sum's rounding error is exact (Knuth's two-sum).
            Expr offset = row[1] / hidden_;
            Expr centre = row[0] + offset;
            Expr of_offset = centre - row[0];
            result = {centre, (row[0] - (centre - of_offset)) + (offset - of_offset)};
        } else {
            mean_square = threads_.total("moments")[0] / hidden_;
        }
        if (!scale().defined()) {
            result.push_back(1.0f / formulas_.denominator(mean_square, epsilon));
            return result;
        }
        Expr scaled_epsilon =
            problem_.epsilon_place == NF_IN_ROOT ? epsilon * scale() * scale() : epsilon * scale();
        // Only beside values that are equal does one matter that is so small; there it keeps rstd finite.
        scaled_epsilon = select(epsilon > 0.0f, max(scaled_epsilon, 0x1p-126f), 0.0f);
        Expr rstd = 1.0f / formulas_.denominator(mean_square, scaled_epsilon);
        result.push_back(rstd);
        result.push_back(scale());
        if (values_.has(OperandId::rstd)) {
            result.push_back(
                select_any(mean_square == 0.0f, 1.0f / formulas_.denominator(0.0f, epsilon), rstd * scale()));
        }
        return result;
    });
}

RowStatistics GpuStatistics::of_row(const FuncRef &known) const {
    const Values values = elements(known);
    auto next = values.begin();
    RowStatistics row;
    if (problem_.op == NF_LAYER_NORM) {
        row.centre = *next++;
        row.centre_error = *next++;
    }
    row.rstd = *next++;
    row.saved_rstd = row.rstd;
    if (values_.has_wide_range()) {
        row.scale = *next++;
        row.saved_rstd = next != values.end() ? *next : Expr();
    }
    return row;
}

}  // namespace normforge
