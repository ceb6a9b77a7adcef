#include "bench/onednn_layer_norm.h"

namespace normforge {

namespace {

// oneDNN takes the memory that it only reads as mutable, too.
dnnl::memory memory_at(const dnnl::memory::desc &description, const dnnl::engine &engine, const void *values) {
    return dnnl::memory(description, engine, const_cast<void *>(values));
}

}  // namespace

OneDnnLayerNorm::OneDnnLayerNorm(const nf_problem &problem, const nf_arguments &run)
    : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {
    using dnnl::normalization_flags;
    const dnnl::memory::desc rows({run.rows, problem.hidden}, dnnl::memory::data_type::f32,
                                  dnnl::memory::format_tag::ab);
    const dnnl::memory::desc vector({problem.hidden}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::a);
    const dnnl::layer_normalization_forward::desc operation(dnnl::prop_kind::forward_inference, rows, run.epsilon,
                                                            normalization_flags::use_scale |
                                                                normalization_flags::use_shift);
    description_ = {operation, engine_};
    primitive_ = dnnl::layer_normalization_forward(description_);
    arguments_ = {{DNNL_ARG_SRC, memory_at(rows, engine_, run.x.data)},
                  {DNNL_ARG_DST, memory_at(rows, engine_, run.y.data)},
                  {DNNL_ARG_SCALE, memory_at(vector, engine_, run.weight)},
                  {DNNL_ARG_SHIFT, memory_at(vector, engine_, run.bias)}};
}

std::string onednn_version() {
    const dnnl_version_t *version = dnnl::version();
    return std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
           std::to_string(version->patch);
}

}  // namespace normforge
