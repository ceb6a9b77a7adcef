#include "generators/gpu_norm.h"

#include "generators/gpu_gradient.h"
#include "generators/gpu_reduction.h"
#include "generators/gpu_statistics.h"
#include "generators/norm_formulas.h"

namespace normforge {

using namespace Halide;

namespace {

using Values = GpuReduction::Values;

class GpuForward {
public:
    GpuForward(const NormProblem &problem, const GpuKnobs &knobs, const NormValues &values, GpuStages &gpu)
        : values_(values), formulas_(problem, values), gpu_(gpu), threads_(problem, knobs, values, gpu),
          statistics_(problem, knobs, values, formulas_, gpu.vars, threads_),
          dealt_(thread_values(problem, knobs)) {}

    NormStages define() {
        statistics_.sum();
        if (values_.has(OperandId::scales)) {
            const Func known = statistics_.known();
            const RowStatistics row = statistics_.of_row(known(gpu_.vars.l, gpu_.vars.w, r_));
            threads_.merge_largest_magnitude("y_magnitudes",
                                             [&](const GpuValue &value) { return y(value.h, row, value.place); });
        }
        return write();
    }

private:
    Expr y(const Expr &h, const RowStatistics &row, const Expr &i) const {
        Expr value = row.scale.defined() ? h * row.scale : h;
        Expr distance = formulas_.distance(value, row.centre, row.centre_error);
        return formulas_.with_affine(formulas_.normalised(distance, row.rstd), i);
    }

    NormStages write() {
        const Func known = statistics_.known();
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
        const RowStatistics row = statistics_.of_row(known(k.z, k.w, r_));
        Expr h = threads_.value_of(gpu_.row(k.x, k.y, k.z, k.w, r_), i).h;
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

    const NormValues &values_;
    const NormFormulas formulas_;
    GpuStages &gpu_;
    GpuReduction threads_;
    GpuStatistics statistics_;
    const ThreadValues dealt_;
    const Var r_ = gpu_.vars.r;
};

}  // namespace

NormStages define_gpu_norm(const NormProblem &problem, const GpuKnobs &knobs, const NormInputs &inputs,
                           const ValueConversion &conversion, GpuStages &gpu) {
    if (problem.pass == NF_BACKWARD) {
        return define_gpu_gradient(problem, knobs, inputs, conversion, gpu);
    }
    const NormValues values(problem, inputs, conversion);
    return GpuForward(problem, knobs, values, gpu).define();
}

}  // namespace normforge
