#pragma once

#include <cstdint>
#include <dnnl.hpp>
#include <string>
#include <unordered_map>

#include "runtime/normforge.h"

namespace normforge {

// oneDNN's layer normalisation of the rows that a run describes, with weight and bias, everything prepared.
// Throws dnnl::error.
class OneDnnLayerNorm {
public:
    // The run's buffers must outlive this; its rows follow one another without a gap.
    OneDnnLayerNorm(const nf_problem &problem, const nf_arguments &run);

    void execute() { primitive_.execute(stream_, arguments_); }

    // The name of the code that oneDNN chose for this CPU.
    std::string implementation() const { return description_.impl_info_str(); }

private:
    dnnl::engine engine_;
    dnnl::stream stream_;
    dnnl::layer_normalization_forward::primitive_desc description_;
    dnnl::layer_normalization_forward primitive_;
    std::unordered_map<int, dnnl::memory> arguments_;
};

// "2.6.3".
std::string onednn_version();

}  // namespace normforge
