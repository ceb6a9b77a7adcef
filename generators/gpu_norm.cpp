#include "generators/gpu_norm.h"

#include "generators/gpu_reduction.h"
#include "generators/norm_formulas.h"
#include "generators/norm_values.h"
#include "generators/row_reduction.h"

namespace normforge {

using namespace Halide;

namespace {

using Values = GpuReduction::Values;

Values sum_of(const Values &a, const Values &b) {
    Values result;
    for (size_t m = 0; m < a.size(); m++) {
        result.push_back(a[m] + b[m]);
    }
    return result;
}

Values sum_of_sides(const Values &a, const Values &b, int) {
    return sum_of(a, b);
}

Values maximum_of(const Values &a, const Values &b) {
    return {max(a[0], b[0])};
}

Values maximum_of_sides(const Values &a, const Values &b, int) {
    return maximum_of(a, b);
}

// What is left of x when it is brought to 0 where it is below. A NaN stays one.
Expr not_negative(const Expr &x) {
    return select_any(x < 0.0f, 0.0f, x);
}

// What a row is normalised by, of values times `scale`; undefined where the CPU's are.
struct RowStatistics {
    Expr centre, centre_error, rstd, scale, saved_rstd;
};

class GpuForward {
public:
    GpuForward(const NormProblem &problem, const GpuKnobs &knobs, const NormValues &values, GpuStages &gpu)
        : problem_(problem), knobs_(knobs), values_(values), formulas_(problem, values), gpu_(gpu),
          threads_(gpu, thread_values(problem, knobs)), dealt_(thread_values(problem, knobs)),
          hidden_(static_cast<float>(problem.hidden)) {
        gpu_.row = Func("row");
        gpu_.row(gpu_.vars.v, gpu_.vars.c, l_, w_, r_) = values_.h()(threads_.place(gpu_.vars.v, gpu_.vars.c), r_);
    }

    NormStages define() {
        if (values_.has_wide_range()) {
            sum_magnitudes("magnitudes", [this](const Expr &v, const Expr &c) { return held(v, c); });
        }
        sum_moments();
        if (values_.has(OperandId::scales)) {
            const Func row = statistics();
            sum_magnitudes("y_magnitudes", [this, row](const Expr &v, const Expr &c) {
                return y(held(v, c), statistics_of(row(l_, w_, r_)), threads_.place(v, c));
            });
        }
        return write();
    }

private:
    Expr held(const Expr &v, const Expr &c) const { return gpu_.row(v, c, l_, w_, r_); }

    void sum_magnitudes(const std::string &name, const std::function<Expr(const Expr &v, const Expr &c)> &value) {
        const auto terms = [&](const Expr &v, const Expr &c) {
            return Values{reinterpret<int32_t>(value(v, c)) & INT32_MAX};
        };
        threads_.merge(name, threads_.over_values(name + "_of_thread", terms, maximum_of), maximum_of_sides);
    }

    // The power of two that brings a row's largest magnitude near 1, and with it every sum into f32's range. Where
    // epsilon is what decides, it stays in range as well.
    Expr scale() {
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

    Expr scaled(const Expr &value) {
        Expr factor = scale();
        return factor.defined() ? value * factor : value;
    }

    // Near most values of the row, so that what is taken relative to it keeps its digits.
    Expr reference() {
        const Func f = threads_.known("reference", [this] {
            const int most = dealt_.hidden - 1;
            const auto value = [&](int i) { return scaled(values_.h()(std::min(i, most), r_)); };
            return Values{median_of_three(value(0), value(1), value(2))};
        });
        return f(l_, w_, r_);
    }

    void sum_moments() {
        if (knobs_.sums == kPlain) {
            const auto square = [this](const Expr &v, const Expr &c) {
                Expr value = scaled(held(v, c));
                return Values{value * value};
            };
            threads_.merge("moments", threads_.over_values("squares_of_thread", square, sum_of), sum_of_sides);
        } else if (knobs_.sums == kTwoPass) {
            const auto value = [this](const Expr &v, const Expr &c) { return Values{scaled(held(v, c))}; };
            threads_.merge("values", threads_.over_values("values_of_thread", value, sum_of), sum_of_sides);
            const Func pivot =
                threads_.known("pivot", [this] { return Values{threads_.total("values")[0] / hidden_}; });
            threads_.merge("moments", moments_about(pivot), sum_of_sides);
        } else {
            sum_about_pivots();
        }
    }

    Func moments_about(const Func &pivot) {
        return threads_.over_values(
            "moments_of_thread",
            [this, pivot](const Expr &v, const Expr &c) {
                Expr d = scaled(held(v, c)) - pivot(l_, w_, r_);
                return Values{d, d * d};
            },
            sum_of);
    }

    // Each thread's about the median of its first three values, then as {reference, sum of (x - reference), sum of
    // squares about the mean of what was summed so far} and, if that is not known beforehand, the number of
    // values. About the means of both sides, squares never cancel, and the means are taken relative to the
    // reference, so that they have no digits of a large one. The reference is kept since where rows are
    // overwritten, it cannot be found once more.
    void sum_about_pivots() {
        const Func pivot = threads_.known("pivot", [this] {
            const auto value = [this](int k) { return scaled(held(k % dealt_.vector, k / dealt_.vector)); };
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
    Values moments() {
        Values moments = threads_.total("moments");
        if (knobs_.sums == kTwoPass) {
            moments.insert(moments.begin(), threads_.total("values")[0] / hidden_);
            moments[2] -= moments[1] * (moments[1] / hidden_);
        }
        return moments;
    }

    // As one value of each thread: what statistics_of takes apart.
    Func statistics() {
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

    RowStatistics statistics_of(const FuncRef &known) const {
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

    Expr y(const Expr &h, const RowStatistics &row, const Expr &i) const {
        Expr value = row.scale.defined() ? h * row.scale : h;
        return formulas_.with_affine(formulas_.normalised(value, row.centre, row.centre_error, row.rstd), i);
    }

    NormStages write() {
        const Func known = statistics();
        Func scales;
        if (values_.has(OperandId::scales)) {
            scales = threads_.known(
                "scales", [this] { return Values{formulas_.row_scale(threads_.total("y_magnitudes")[0])}; });
        }
        RDom k({{0, dealt_.vector}, {0, dealt_.chunks()}, {0, kWarpThreads}, {0, dealt_.threads / kWarpThreads}},
               "written");
        gpu_.writing = {k.x, k.y, k.z, k.w};
        Expr vector = k.y * dealt_.threads + (k.w * kWarpThreads + k.z);
        if (dealt_.tail_vectors > 0) {
            k.where(vector < dealt_.hidden / dealt_.vector);
        }
        Expr i = vector * dealt_.vector + k.x;
        const RowStatistics row = statistics_of(known(k.z, k.w, r_));
        Expr h = gpu_.row(k.x, k.y, k.z, k.w, r_);
        Expr row_scale = scales.defined() ? Expr(scales(k.z, k.w, r_)) : Expr();
        std::vector<Expr> outputs;
        const auto add = [&](OperandId id, const Expr &value) {
            if (values_.has(id)) {
                outputs.push_back(value);
            }
        };
        if (values_.has(OperandId::mean)) {
            outputs.push_back(row.scale.defined() ? row.centre / row.scale : row.centre);
        }
        add(OperandId::rstd, row.saved_rstd);
        add(OperandId::scales, row_scale);
        add(OperandId::y, formulas_.stored_y(y(h, row, i), row_scale));
        if (values_.has(OperandId::sum)) {
            outputs.push_back(values_.stored(OperandId::sum, h));
        }
        NormStages stages;
        stages.vars.r = r_;
        stages.rows = Func("rows");
        Values nothing;
        for (const Expr &output : outputs) {
            nothing.push_back(undef(output.type()));
        }
        stages.rows(stages.vars.i, r_) = Tuple(nothing);
        stages.rows(i, r_) = Tuple(outputs);
        return stages;
    }

    const NormProblem &problem_;
    const GpuKnobs &knobs_;
    const NormValues &values_;
    const NormFormulas formulas_;
    GpuStages &gpu_;
    GpuReduction threads_;
    const ThreadValues dealt_;
    const Expr hidden_;
    const Var l_ = gpu_.vars.l;
    const Var w_ = gpu_.vars.w;
    const Var r_ = gpu_.vars.r;
};

}  // namespace

NormStages define_gpu_norm(const NormProblem &problem, const GpuKnobs &knobs, const NormInputs &inputs,
                           const ValueConversion &conversion, GpuStages &gpu) {
    const NormValues values(problem, inputs, conversion);
    return GpuForward(problem, knobs, values, gpu).define();
}

}  // namespace normforge
