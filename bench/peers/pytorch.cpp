// PyTorch's CPU kernels without the cost of a call from Python. layer_norm is the kernel itself, without mean and
// rstd and into the given y, as PyTorch's static runtime calls it. rms_norm has neither a kernel for CPUs nor a
// form with a given output: it is the operations that torch.nn.functional.rms_norm is made of there, each into a
// tensor that is kept. (Allocated anew, they took 10 us for one row of 64 and up to 280 us where the heap was in
// pieces.)

// The library has its kernels for these; its headers name them only where told so.
#define HAVE_AVX2_CPU_DEFINITION
#define HAVE_AVX512_CPU_DEFINITION

#include <ATen/Version.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/layer_norm.h>
#include <ATen/ops/add.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/pow.h>
#include <c10/core/InferenceMode.h>
#include <torch/headeronly/version.h>

#include <string>
#include <type_traits>
#include <vector>

#include "bench/peers/peer_of.h"

namespace normforge {
namespace {

at::ScalarType type_of(nf_dtype dtype) {
    switch (dtype) {
    case NF_F16:
        return at::kHalf;
    case NF_BF16:
        return at::kBFloat16;
    default:
        return at::kFloat;
    }
}

// PyTorch's own choice, which its library keeps to itself: the best that the CPU can run and that there is.
at::native::forward_fn layer_norm_kernel() {
    using Kernels = std::remove_reference_t<decltype(at::native::LayerNormKernel)>;
    const std::string capability = at::get_cpu_capability();
    if (capability == "AVX512" && Kernels::AVX512) {
        return Kernels::AVX512;
    }
    return capability == "AVX512" || capability == "AVX2" ? Kernels::AVX2 : Kernels::DEFAULT;
}

class PyTorch : public SimplePeer {
public:
    static std::unique_ptr<PyTorch> prepare(const nf_problem &problem, const nf_arguments &arguments,
                                            const float *, const float *, int) {
        return std::make_unique<PyTorch>(problem, arguments);
    }

    PyTorch(const nf_problem &problem, const nf_arguments &arguments)
        : op_(problem.op), has_residual_(problem.residual != NF_NONE), rows_(arguments.rows),
          hidden_(problem.hidden), epsilon_(arguments.epsilon) {
        const c10::InferenceMode inference;
        const auto type = type_of(problem.dtype);
        const auto tensor = [&](const void *values, at::IntArrayRef shape) {
            return values ? at::from_blob(const_cast<void *>(values), shape, at::TensorOptions(type))
                          : at::Tensor();
        };
        const std::vector<int64_t> shape{rows_, hidden_};
        x_ = tensor(arguments.x.data, shape);
        residual_ = tensor(arguments.residual.data, shape);
        sum_ = tensor(arguments.sum.data, shape);
        y_ = tensor(arguments.y.data, shape);
        weight_ = tensor(arguments.weight, {hidden_});
        bias_ = tensor(arguments.bias, {hidden_});
        implementation = op_ == NF_LAYER_NORM ? "LayerNormKernel" : "operations of rms_norm";
        if (op_ == NF_RMS_NORM) {
            squares_ = at::empty(shape, at::TensorOptions(at::kFloat));
            rstd_ = at::empty({rows_, 1}, at::TensorOptions(at::kFloat));
            if (type != at::kFloat) {
                wide_ = at::empty(shape, at::TensorOptions(at::kFloat));
            }
        }
    }

    static const char *version() { return TORCH_VERSION; }

    void begin() { inference_ = std::make_unique<c10::InferenceMode>(); }

    void run_unit() {
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

    void end() { inference_.reset(); }

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
    at::native::forward_fn layer_norm_ = layer_norm_kernel();
    at::Tensor x_, residual_, sum_, y_, weight_, bias_;
    at::Tensor squares_, rstd_, wide_;  // of rms_norm
    std::unique_ptr<c10::InferenceMode> inference_;
};

}  // namespace
}  // namespace normforge

NORMFORGE_PEER_OF(normforge::PyTorch);
