#include "generators/gpu_gradient.h"

#include "generators/gpu_reduction.h"
#include "generators/row_reduction.h"

namespace normforge {

using namespace Halide;

namespace {

using Values = GpuReduction::Values;

// A slice may have one row less than others. What is found of the last row in its place is not written.
NormInputs clamped(const NormInputs &inputs) {
    NormInputs result = inputs;
    for (auto &[id, f] : result.funcs) {
        const OperandShape shape = operand(id).shape;
        const Var i("i"), r("r");
        Expr row = min(r, inputs.rows - 1);
        Func of_rows(std::string(operand(id).name) + "_of_rows");
        if (shape == OperandShape::rows) {
            of_rows(i, r) = f(i, row);
            f = of_rows;
        } else if (shape == OperandShape::row_values) {
            of_rows(r) = f(row);
            f = of_rows;
        }
    }
    return result;
}

class GpuBackward {
public:
    GpuBackward(const NormProblem &problem, const GpuKnobs &knobs, const NormInputs &inputs,
                const NormValues &values, GpuStages &gpu)
        : problem_(problem), inputs_(inputs), values_(values), gpu_(gpu), threads_(problem, knobs, values, gpu),
          dealt_(thread_values(problem, knobs)), has_mean_(problem.op == NF_LAYER_NORM),
          on_deviation_(problem.epsilon_place == NF_ON_DEVIATION) {}

    NormStages define() {
        sum();
        return write();
    }

private:
    // What a row's sums come to: the mean of n as the saved mean has it, that of the gradients, and the
    // projection.
    struct RowSums {
        Expr shift, mean_gradient, projection;
    };

    // The saved statistics, read once.
    Func saved() {
        return threads_.known("saved", [this] {
            Values result = {values_.row_value(OperandId::rstd, r_)};
            if (has_mean_) {
                result.push_back(values_.row_value(OperandId::mean, r_));
            }
            return result;
        });
    }

    // From the saved mean, times the saved rstd.
    Expr about_saved(const Expr &h, const FuncRef &saved) const {
        const Values statistics = elements(saved);
        return (has_mean_ ? h - statistics[1] : h) * statistics[0];
    }

    static Expr gradient(const GpuValue &value) {
        return value.weight.defined() ? value.dy * value.weight : value.dy;
    }

    // The power of two that brings the row's largest n near 1: squares of a row whose deviation is small beside
    // epsilon are below f32's range.
    Expr scale() {
        const Func f = threads_.known("scale", [this] {
            Expr exponent = threads_.total("magnitudes")[0] >> 23;
            return Values{reinterpret<float>((254 - clamp(exponent, 127 - 100, 127 + 100)) << 23)};
        });
        return f(gpu_.vars.l, gpu_.vars.w, r_);
    }

    Expr scaled(const Expr &h) {
        Expr n = about_saved(h, saved()(gpu_.vars.l, gpu_.vars.w, r_));
        return on_deviation_ ? n * scale() : n;
    }

    void sum() {
        if (on_deviation_) {
            threads_.merge_largest_magnitude("magnitudes", [this](const GpuValue &value) {
                return about_saved(value.h, saved()(gpu_.vars.l, gpu_.vars.w, r_));
            });
        }
        threads_.merge_sums("gradients", threads_.sums("gradients_of_thread", [this](const GpuValue &value) {
            Expr n = scaled(value.h);
            Values terms = {gradient(value) * n};
            if (on_deviation_) {
                terms.push_back(n * n);
            }
            if (has_mean_) {
                terms.push_back(gradient(value));
                terms.push_back(n);
            }
            return terms;
        }));
    }

    Func row_sums() {
        return threads_.known("row_sums", [this] {
            const Values totals = threads_.total("gradients");
            const auto mean = [&](size_t term) { return totals[term] / static_cast<float>(problem_.hidden); };
            Expr projection = mean(0);
            Expr about_saved = on_deviation_ ? mean(1) : Expr(0.0f);
            Expr mean_square = about_saved;
            Values result;
            if (has_mean_) {
                // The sums were taken about the saved mean.
                Expr shift = mean(totals.size() - 1);
                Expr mean_gradient = mean(totals.size() - 2);
                projection -= shift * mean_gradient;
                mean_square -= shift * shift;
                result = {on_deviation_ ? shift / scale() : shift, mean_gradient};
            }
            if (on_deviation_) {
                // As define_gradient has it.
                projection /= sqrt(max(mean_square, about_saved * 0x1p-40f) + 0x1p-126f);
            }
            result.push_back(projection);
            return result;
        });
    }

    RowSums sums_of(const FuncRef &row_sums) const {
        const Values values = elements(row_sums);
        return has_mean_ ? RowSums{values[0], values[1], values[2]} : RowSums{{}, {}, values[0]};
    }

    NormStages write() {
        const Func row = row_sums();
        const Func saved_values = saved();
        RDom k({{0, dealt_.vector}, {0, dealt_.chunks()}, {0, kWarpThreads}, {0, dealt_.threads / kWarpThreads}},
               "written");
        gpu_.writing = {k.x, k.y, k.z, k.w};
        const auto &[of_slice, slice] = gpu_.slices;
        Expr r = of_slice * inputs_.slices + slice;
        // In bits, so that Halide does not take it for a bound of what is computed for the row.
        k.where(((inputs_.rows - 1 - r) & INT32_MIN) == 0);
        Expr vector = k.y * dealt_.threads + (k.w * kWarpThreads + k.z);
        if (dealt_.tail_vectors > 0) {
            k.where(vector < dealt_.hidden / dealt_.vector);
        }
        Expr i = vector * dealt_.vector + k.x;
        const GpuValue value = threads_.value_of(gpu_.row(k.x, k.y, k.z, k.w, r), i);
        const RowSums sums = sums_of(row(k.z, k.w, r));
        Expr n = about_saved(value.h, saved_values(k.z, k.w, r));
        Expr inner = gradient(value);
        if (has_mean_) {
            n -= sums.shift;
            inner -= sums.mean_gradient;
        }
        Expr dh = elements(saved_values(k.z, k.w, r))[0] * (inner - n * sums.projection);
        if (values_.has(OperandId::dsum)) {
            dh += values_.value(OperandId::dsum, i, r);
        }
        return stages_of(i, value.dy, n, dh);
    }

    // Of the place i of a row.
    NormStages stages_of(const Expr &i, const Expr &dy, const Expr &n, const Expr &dh) {
        const auto &[of_slice, slice] = gpu_.slices;
        NormStages stages;
        Values outputs, nothing;
        if (values_.has(OperandId::dweight)) {
            outputs.push_back(dy * values_.rounded(n, problem_.normalised));
        }
        if (values_.has(OperandId::dbias)) {
            outputs.push_back(dy);
        }
        const size_t sums = outputs.size();
        for (const OperandId id : {OperandId::dx, OperandId::dresidual}) {
            if (values_.has(id)) {
                outputs.push_back(values_.stored(id, dh));
            }
        }
        for (const Expr &output : outputs) {
            nothing.push_back(undef(output.type()));
        }
        stages.rows = Func("rows");
        stages.rows(stages.vars.i, of_slice, slice) = Tuple(nothing);
        Expr is_first = of_slice == 0 && inputs_.continues == 0;
        for (size_t sum = 0; sum < sums; sum++) {
            Expr former = stages.rows(i, of_slice, slice)[static_cast<int>(sum)];
            // What memory held before may be a NaN.
            outputs[sum] = select_any(is_first, 0.0f, former) + outputs[sum];
        }
        stages.rows(i, of_slice, slice) = Tuple(outputs);
        return stages;
    }

    const NormProblem &problem_;
    const NormInputs &inputs_;
    const NormValues &values_;
    GpuStages &gpu_;
    GpuReduction threads_;
    const ThreadValues dealt_;
    const bool has_mean_;
    const bool on_deviation_;
    const Var r_ = gpu_.vars.r;
};

}  // namespace

NormStages define_gpu_gradient(const NormProblem &problem, const GpuKnobs &knobs, const NormInputs &inputs,
                               const ValueConversion &conversion, GpuStages &gpu) {
    const NormInputs of_rows = clamped(inputs);
    const NormValues values(problem, of_rows, conversion);
    return GpuBackward(problem, knobs, of_rows, values, gpu).define();
}

}  // namespace normforge
