// The gradient of layer_norm is PyTorch's kernel itself, into given tensors. That of rms_norm has no kernel for
// CPUs: it is the operations that automatic differentiation runs for torch.nn.functional.rms_norm there, with what
// the forward pass saves for them. Of a residual, the gradient that flows into the sum is added to that of the
// norm; x and residual share the result, as in PyTorch.

#include "bench/peers/pytorch_passes.h"

#include <ATen/native/layer_norm.h>
#include <ATen/ops/div.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/sum.h>

#include <optional>
#include <vector>

namespace normforge {
namespace {

class LayerNormGradient {
public:
    // The kernel wants statistics in the type of the weight.
    LayerNormGradient(const nf_problem &problem, const nf_arguments &arguments)
        : rows_(arguments.rows), hidden_(problem.hidden),
          weight_(tensor_at(arguments.weight, {hidden_}, pytorch_type(problem.weight))),
          dweight_(tensor_at(arguments.dweight, {hidden_}, pytorch_type(problem.weight))),
          dbias_(tensor_at(arguments.dbias, {hidden_}, pytorch_type(problem.bias))),
          mean_(tensor_at(arguments.mean, {rows_}, at::kFloat).to(weight_.scalar_type())),
          rstd_(tensor_at(arguments.rstd, {rows_}, at::kFloat).to(weight_.scalar_type())) {}

    void run(const at::Tensor &dy, const at::Tensor &h, at::Tensor &dx) {
        kernel_(dy, h, mean_, rstd_, weight_, rows_, hidden_, &dx, &dweight_, &dbias_);
    }

private:
    at::native::backward_fn kernel_ = best_kernel(at::native::LayerNormBackwardKernel);
    int64_t rows_, hidden_;
    at::Tensor weight_, dweight_, dbias_, mean_, rstd_;
};

class RmsNormGradient {
public:
    RmsNormGradient(const nf_problem &problem, const nf_arguments &arguments, const at::Tensor &h)
        : weight_(tensor_at(arguments.weight, {problem.hidden}, pytorch_type(problem.weight))),
          dweight_(tensor_at(arguments.dweight, {problem.hidden}, pytorch_type(problem.weight))),
          rstd_(tensor_at(arguments.rstd, {arguments.rows, 1}, at::kFloat)), h_(h.to(at::kFloat)),
          normalised_(h_.mul(rstd_)), is_narrow_(problem.dtype != NF_F32) {
        for (at::Tensor *rows : {&dy_, &gradient_, &product_, &from_squares_}) {
            *rows = at::empty_like(h_);
        }
        for (at::Tensor *row_values : {&drstd_, &cube_}) {
            *row_values = at::empty_like(rstd_);
        }
        sums_ = at::empty({problem.hidden}, at::TensorOptions(at::kFloat));
    }

    void run(const at::Tensor &given_dy, at::Tensor &dx) {
        const at::Tensor &dy = is_narrow_ ? dy_.copy_(given_dy) : given_dy;
        at::Tensor &gradient = is_narrow_ ? gradient_ : dx;
        // normalised * weight
        at::mul_out(product_, dy, normalised_);
        at::sum_out(is_narrow_ ? sums_ : dweight_, product_, {0});
        if (is_narrow_) {
            dweight_.copy_(sums_);
        }
        at::mul_out(gradient, dy, weight_);
        // h * rstd
        at::mul_out(product_, gradient, h_);
        at::sum_out(drstd_, product_, {1}, /*keepdim=*/true);
        gradient.mul_(rstd_);
        // rstd of the mean of squares
        at::pow_out(cube_, rstd_, 3);
        drstd_.mul_(-0.5).mul_(cube_);
        at::div_out(from_squares_, drstd_.expand_as(h_), static_cast<double>(h_.size(1)));
        at::pow_out(product_, h_, 1);
        from_squares_.mul_(product_.mul_(2));
        gradient.add_(from_squares_);
        if (is_narrow_) {
            dx.copy_(gradient);
        }
    }

private:
    at::Tensor weight_, dweight_, rstd_, h_, normalised_;
    bool is_narrow_;
    at::Tensor dy_, gradient_, product_, from_squares_, drstd_, cube_, sums_;
};

class Backward : public PyTorchPass {
public:
    Backward(const nf_problem &problem, const nf_arguments &arguments) {
        const at::ScalarType type = pytorch_type(problem.dtype);
        const std::vector<int64_t> shape{arguments.rows, problem.hidden};
        const bool has_residual = problem.residual != NF_NONE;
        h_ = tensor_at(has_residual ? arguments.sum.data : arguments.x.data, shape, type);
        dy_ = tensor_at(arguments.dy.data, shape, type);
        dsum_ = tensor_at(arguments.dsum.data, shape, type);
        dx_ = tensor_at(arguments.dx.data, shape, type);
        if (problem.op == NF_LAYER_NORM) {
            layer_norm_.emplace(problem, arguments);
            implementation = "LayerNormBackwardKernel";
        } else {
            rms_norm_.emplace(problem, arguments, h_);
            implementation = "operations of rms_norm's gradient";
        }
    }

    void run() override {
        if (layer_norm_) {
            layer_norm_->run(dy_, h_, dx_);
        } else {
            rms_norm_->run(dy_, dx_);
        }
        if (dsum_.defined()) {
            dx_.add_(dsum_);
        }
    }

private:
    std::optional<LayerNormGradient> layer_norm_;
    std::optional<RmsNormGradient> rms_norm_;
    at::Tensor h_, dy_, dsum_, dx_;
};

}  // namespace

std::unique_ptr<PyTorchPass> pytorch_backward(const nf_problem &problem, const nf_arguments &arguments) {
    return std::make_unique<Backward>(problem, arguments);
}

}  // namespace normforge
