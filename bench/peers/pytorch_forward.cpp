// layer_norm is PyTorch's kernel itself, without mean and rstd and into the given y, as PyTorch's static runtime
// calls it. rms_norm has neither a kernel for CPUs nor a form with a given output: it is the operations that
// torch.nn.functional.rms_norm is made of there.

#include "bench/peers/pytorch_passes.h"

#include <ATen/native/layer_norm.h>
#include <ATen/ops/add.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/pow.h>

#include <vector>

namespace normforge {
namespace {

class Forward : public PyTorchPass {
public:
    Forward(const nf_problem &problem, const nf_arguments &arguments)
        : op_(problem.op), has_residual_(problem.residual != NF_NONE), rows_(arguments.rows),
          hidden_(problem.hidden), epsilon_(arguments.epsilon) {
        const at::ScalarType type = pytorch_type(problem.dtype);
        const std::vector<int64_t> shape{rows_, hidden_};
        x_ = tensor_at(arguments.x.data, shape, type);
        residual_ = tensor_at(arguments.residual.data, shape, type);
        sum_ = tensor_at(arguments.sum.data, shape, type);
        y_ = tensor_at(arguments.y.data, shape, type);
        weight_ = tensor_at(arguments.weight, {hidden_}, type);
        bias_ = tensor_at(arguments.bias, {hidden_}, type);
        implementation = op_ == NF_LAYER_NORM ? "LayerNormKernel" : "operations of rms_norm";
        if (op_ == NF_RMS_NORM) {
            squares_ = at::empty(shape, at::TensorOptions(at::kFloat));
            rstd_ = at::empty({rows_, 1}, at::TensorOptions(at::kFloat));
            if (type != at::kFloat) {
                wide_ = at::empty(shape, at::TensorOptions(at::kFloat));
            }
        }
    }

    void run() override {
        if (has_residual_) {
            at::add_out(sum_, x_, residual_);
        }
        const at::Tensor &normalised = has_residual_ ? sum_ : x_;
        if (op_ == NF_LAYER_NORM) {
            layer_norm_(normalised, weight_, bias_, rows_, hidden_, epsilon_, &y_, nullptr, nullptr);
        } else {
            run_rms_norm(normalised);
        }
    }

private:
    void run_rms_norm(const at::Tensor &normalised) {
        const at::Tensor &values = wide_.defined() ? wide_.copy_(normalised) : normalised;
        at::pow_out(squares_, values, 2);
        at::mean_out(rstd_, squares_, {1}, /*keepdim=*/true);
        rstd_.add_(epsilon_).rsqrt_();
        if (wide_.defined()) {
            wide_.mul_(rstd_);
            y_.copy_(wide_);
        } else {
            at::mul_out(y_, values, rstd_);
        }
        y_.mul_(weight_);
    }

    nf_op op_;
    bool has_residual_;
    int64_t rows_, hidden_;
    double epsilon_;
    at::native::forward_fn layer_norm_ = best_kernel(at::native::LayerNormKernel);
    at::Tensor x_, residual_, sum_, y_, weight_, bias_;
    at::Tensor squares_, rstd_, wide_;  // of rms_norm
};

}  // namespace

std::unique_ptr<PyTorchPass> pytorch_forward(const nf_problem &problem, const nf_arguments &arguments) {
    return std::make_unique<Forward>(problem, arguments);
}

}  // namespace normforge
