// PyTorch's CPU kernels without the cost of a call from Python.

#include <c10/core/InferenceMode.h>
#include <torch/headeronly/version.h>

#include "bench/peers/peer_of.h"
#include "bench/peers/pytorch_passes.h"

namespace normforge {

at::ScalarType pytorch_type(nf_dtype dtype) {
    switch (dtype) {
    case NF_F16:
        return at::kHalf;
    case NF_BF16:
        return at::kBFloat16;
    default:
        return at::kFloat;
    }
}

namespace {

class PyTorch : public SimplePeer {
public:
    static std::unique_ptr<PyTorch> prepare(const nf_problem &problem, const nf_arguments &arguments,
                                            const peer_vectors &, int) {
        return std::make_unique<PyTorch>(problem, arguments);
    }

    PyTorch(const nf_problem &problem, const nf_arguments &arguments) {
        const c10::InferenceMode inference;
        pass_ = (problem.pass == NF_BACKWARD ? pytorch_backward : pytorch_forward)(problem, arguments);
        implementation = pass_->implementation;
    }

    static const char *version() { return TORCH_VERSION; }
    void begin() { inference_ = std::make_unique<c10::InferenceMode>(); }
    void run_unit() { pass_->run(); }
    void end() { inference_.reset(); }

private:
    std::unique_ptr<PyTorchPass> pass_;
    std::unique_ptr<c10::InferenceMode> inference_;
};

}  // namespace
}  // namespace normforge

NORMFORGE_PEER_OF(normforge::PyTorch);
