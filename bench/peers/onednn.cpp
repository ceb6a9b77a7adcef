// oneDNN, of either major version. Scale, shift and their gradients are f32, which its generated code wants. A
// residual is added by its binary primitive, which stores the sum that the norm then reads; and so is the gradient
// that flows into that sum.

#include <dnnl.hpp>
#include <optional>
#include <vector>

#include "bench/peers/peer_of.h"

namespace normforge {
namespace {

// A primitive and its operands in the form of the C interface: that of C++ collects them anew at every call.
class Step {
public:
    Step(dnnl::primitive primitive, const std::vector<std::pair<int, dnnl::memory>> &operands)
        : primitive_(std::move(primitive)) {
        for (const auto &[index, memory] : operands) {
            memory_.push_back(memory);
            arguments_.push_back({index, memory.get()});
        }
    }

    dnnl_status_t run(dnnl_stream_t stream) const {
        return dnnl_primitive_execute(primitive_.get(), stream, static_cast<int>(arguments_.size()),
                                      arguments_.data());
    }

private:
    dnnl::primitive primitive_;
    std::vector<dnnl::memory> memory_;
    std::vector<dnnl_exec_arg_t> arguments_;
};

dnnl::memory::data_type type_of(nf_dtype dtype) {
    switch (dtype) {
    case NF_F16:
        return dnnl::memory::data_type::f16;
    case NF_BF16:
        return dnnl::memory::data_type::bf16;
    default:
        return dnnl::memory::data_type::f32;
    }
}

// No gradient of rms_norm: 3.13.3 takes a mean off it that only layer_norm's has.
std::optional<dnnl::normalization_flags> flags_of(nf_op op, nf_pass pass) {
    if (op == NF_LAYER_NORM) {
        return dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;
    }
    if (pass == NF_BACKWARD) {
        return std::nullopt;
    }
#if NORMFORGE_ONEDNN_HAS_RMS_NORM
    return dnnl::normalization_flags::use_scale | dnnl::normalization_flags::rms_norm;
#else
    return std::nullopt;
#endif
}

class OneDnn : public SimplePeer {
public:
    // All that it cannot do it says by an error: types that this CPU lacks instructions for, among others.
    static std::unique_ptr<OneDnn> prepare(const nf_problem &problem, const nf_arguments &arguments,
                                           const peer_vectors &vectors, int) {
        const auto flags = flags_of(problem.op, problem.pass);
        if (!flags) {
            return nullptr;
        }
        try {
            return std::make_unique<OneDnn>(problem, arguments, vectors, *flags);
        } catch (const dnnl::error &error) {
            if (error.status == dnnl_unimplemented || error.status == dnnl_invalid_arguments) {
                return nullptr;
            }
            throw;
        }
    }

    OneDnn(const nf_problem &problem, const nf_arguments &arguments, const peer_vectors &vectors,
           dnnl::normalization_flags flags)
        : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_),
          rows_({arguments.rows, problem.hidden}, type_of(problem.dtype), dnnl::memory::format_tag::ab),
          vector_({problem.hidden}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::a), flags_(flags),
          epsilon_(arguments.epsilon), has_residual_(problem.residual != NF_NONE) {
        if (problem.pass == NF_BACKWARD) {
            prepare_backward(arguments, vectors);
        } else {
            prepare_forward(arguments, vectors);
        }
    }

    static const char *version() {
        static const std::string text = [] {
            const dnnl_version_t *version = dnnl::version();
            return std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
                   std::to_string(version->patch);
        }();
        return text.c_str();
    }

    void run_unit() {
        for (const Step &step : steps_) {
            step.run(stream_.get());
        }
    }

private:
    // oneDNN takes the memory that it only reads as mutable, too.
    dnnl::memory memory_at(const dnnl::memory::desc &description, const void *values) const {
        return dnnl::memory(description, engine_, const_cast<void *>(values));
    }

    void prepare_forward(const nf_arguments &arguments, const peer_vectors &vectors) {
        dnnl::memory normalised = memory_at(rows_, arguments.x.data);
        if (has_residual_) {
            const dnnl::memory sum = memory_at(rows_, arguments.sum.data);
            add_step(normalised, memory_at(rows_, arguments.residual.data), sum);
            normalised = sum;
            implementation += " + ";
        }
        const auto description = norm_description(dnnl::prop_kind::forward_inference);
        std::vector<std::pair<int, dnnl::memory>> operands{{DNNL_ARG_SRC, normalised},
                                                           {DNNL_ARG_DST, memory_at(rows_, arguments.y.data)},
                                                           {DNNL_ARG_SCALE, memory_at(vector_, vectors.weight)}};
        if (vectors.bias) {
            operands.emplace_back(DNNL_ARG_SHIFT, memory_at(vector_, vectors.bias));
        }
        steps_.emplace_back(dnnl::layer_normalization_forward(description), operands);
        implementation += description.impl_info_str();
    }

    void prepare_backward(const nf_arguments &arguments, const peer_vectors &vectors) {
        const auto forward = norm_description(dnnl::prop_kind::forward_training);
        const auto description = gradient_description(forward);
        const dnnl::memory dx = memory_at(rows_, arguments.dx.data);
        for (int64_t row = 0; row < arguments.rows; ++row) {
            variance_.push_back(1 / (arguments.rstd[row] * arguments.rstd[row]) - epsilon_);
        }
        std::vector<std::pair<int, dnnl::memory>> operands{
            {DNNL_ARG_SRC, memory_at(rows_, has_residual_ ? arguments.sum.data : arguments.x.data)},
            {DNNL_ARG_DIFF_DST, memory_at(rows_, arguments.dy.data)},
            {DNNL_ARG_VARIANCE, memory_at(forward.variance_desc(), variance_.data())},
            {DNNL_ARG_SCALE, memory_at(vector_, vectors.weight)},
            {DNNL_ARG_DIFF_SRC, dx},
            {DNNL_ARG_DIFF_SCALE, memory_at(vector_, vectors.dweight)}};
        if (arguments.mean) {
            operands.emplace_back(DNNL_ARG_MEAN, memory_at(forward.mean_desc(), arguments.mean));
        }
        if (vectors.dbias) {
            operands.emplace_back(DNNL_ARG_DIFF_SHIFT, memory_at(vector_, vectors.dbias));
#if DNNL_VERSION_MAJOR < 3
            operands.emplace_back(DNNL_ARG_SHIFT,
                                  memory_at(vector_, vectors.weight));  // it must be there, no more
#endif
        }
        steps_.emplace_back(dnnl::layer_normalization_backward(description), operands);
        implementation += description.impl_info_str();
        if (has_residual_) {
            implementation += " + ";
            add_step(dx, memory_at(rows_, arguments.dsum.data), dx);
        }
    }

    dnnl::layer_normalization_forward::primitive_desc norm_description(dnnl::prop_kind kind) const {
#if DNNL_VERSION_MAJOR >= 3
        return {engine_, kind, rows_, rows_, epsilon_, flags_};
#else
        return {{kind, rows_, epsilon_, flags_}, engine_};
#endif
    }

    dnnl::layer_normalization_backward::primitive_desc
    gradient_description(const dnnl::layer_normalization_forward::primitive_desc &forward) const {
        constexpr auto kind = dnnl::prop_kind::backward;
#if DNNL_VERSION_MAJOR >= 3
        return {engine_, kind, rows_, rows_, rows_, epsilon_, flags_, forward};
#else
        return {{kind, rows_, rows_, epsilon_, flags_}, engine_, forward};
#endif
    }

    void add_step(const dnnl::memory &a, const dnnl::memory &b, const dnnl::memory &sum) {
#if DNNL_VERSION_MAJOR >= 3
        const dnnl::binary::primitive_desc description(engine_, dnnl::algorithm::binary_add, rows_, rows_, rows_);
#else
        const dnnl::binary::primitive_desc description({dnnl::algorithm::binary_add, rows_, rows_, rows_},
                                                       engine_);
#endif
        steps_.emplace_back(dnnl::binary(description),
                            std::vector<std::pair<int, dnnl::memory>>{
                                {DNNL_ARG_SRC_0, a}, {DNNL_ARG_SRC_1, b}, {DNNL_ARG_DST, sum}});
        implementation += description.impl_info_str();
    }

    dnnl::engine engine_;
    dnnl::stream stream_;
    dnnl::memory::desc rows_, vector_;
    dnnl::normalization_flags flags_;
    float epsilon_;
    bool has_residual_;
    std::vector<float> variance_;  // of each row, for the gradient
    std::vector<Step> steps_;
};

}  // namespace
}  // namespace normforge

NORMFORGE_PEER_OF(normforge::OneDnn);
