#pragma once

// PyTorch's library has its kernels for these; its headers name them only where told so.
#define HAVE_AVX2_CPU_DEFINITION
#define HAVE_AVX512_CPU_DEFINITION

#include <ATen/Version.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>
#include <ATen/ops/from_blob.h>

#include <memory>
#include <string>
#include <type_traits>

#include "bench/peers/peer.h"

namespace normforge {

// A problem's work, by tensors that are kept from call to call: allocated anew, those of rms_norm took 10 us for
// one row of 64 and up to 280 us where the heap was in pieces.
class PyTorchPass {
public:
    virtual ~PyTorchPass() = default;
    virtual void run() = 0;
    std::string implementation;
};

std::unique_ptr<PyTorchPass> pytorch_forward(const nf_problem &problem, const nf_arguments &arguments);
std::unique_ptr<PyTorchPass> pytorch_backward(const nf_problem &problem, const nf_arguments &arguments);

// PyTorch's own choice, which its library keeps to itself: the best that the CPU can run and that there is.
template <typename Stub>
auto best_kernel(const Stub &) {
    const std::string capability = at::get_cpu_capability();
    if (capability == "AVX512" && Stub::AVX512) {
        return Stub::AVX512;
    }
    return capability == "AVX512" || capability == "AVX2" ? Stub::AVX2 : Stub::DEFAULT;
}

at::ScalarType pytorch_type(nf_dtype dtype);

// The values where they are; undefined for null.
inline at::Tensor tensor_at(const void *values, at::IntArrayRef shape, at::ScalarType type) {
    return values ? at::from_blob(const_cast<void *>(values), shape, at::TensorOptions(type)) : at::Tensor();
}

}  // namespace normforge
