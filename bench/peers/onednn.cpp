// oneDNN, of either major version. Scale and shift are f32, which its generated code wants. A residual is added by
// its binary primitive, which stores the sum that the norm then reads.

#include <dnnl.hpp>
#include <optional>
#include <vector>

#include "bench/peers/peer_of.h"

namespace normforge {
namespace {

constexpr auto kForward = dnnl::prop_kind::forward_inference;

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

std::optional<dnnl::normalization_flags> flags_of(nf_op op) {
    if (op == NF_LAYER_NORM) {
        return dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;
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
                                           const float *weight, const float *bias, int) {
        const auto flags = flags_of(problem.op);
        if (!flags) {
            return nullptr;
        }
        try {
            return std::make_unique<OneDnn>(problem, arguments, weight, bias, *flags);
        } catch (const dnnl::error &error) {
            if (error.status == dnnl_unimplemented || error.status == dnnl_invalid_arguments) {
                return nullptr;
            }
            throw;
        }
    }

    OneDnn(const nf_problem &problem, const nf_arguments &arguments, const float *weight, const float *bias,
           dnnl::normalization_flags flags)
        : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_),
          rows_({arguments.rows, problem.hidden}, type_of(problem.dtype), dnnl::memory::format_tag::ab) {
        const dnnl::memory y = memory_at(rows_, arguments.y.data);
        dnnl::memory normalised = memory_at(rows_, arguments.x.data);
        if (problem.residual != NF_NONE) {
            const dnnl::memory sum = memory_at(rows_, arguments.sum.data);
            add_step(normalised, memory_at(rows_, arguments.residual.data), sum);
            normalised = sum;
        }
        add_norm(problem.hidden, arguments.epsilon, flags, normalised, y, weight, bias);
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
        implementation += std::string(description.impl_info_str()) + " + ";
    }

    void add_norm(int64_t hidden, float epsilon, dnnl::normalization_flags flags, const dnnl::memory &x,
                  const dnnl::memory &y, const float *weight, const float *bias) {
        const dnnl::memory::desc vector({hidden}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::a);
        using Norm = dnnl::layer_normalization_forward;
#if DNNL_VERSION_MAJOR >= 3
        const Norm::primitive_desc description(engine_, kForward, rows_, rows_, epsilon, flags);
#else
        const Norm::primitive_desc description({kForward, rows_, epsilon, flags}, engine_);
#endif
        std::vector<std::pair<int, dnnl::memory>> operands{
            {DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}, {DNNL_ARG_SCALE, memory_at(vector, weight)}};
        if (bias) {
            operands.emplace_back(DNNL_ARG_SHIFT, memory_at(vector, bias));
        }
        steps_.emplace_back(Norm(description), operands);
        implementation += description.impl_info_str();
    }

    dnnl::engine engine_;
    dnnl::stream stream_;
    dnnl::memory::desc rows_;
    std::vector<Step> steps_;
};

}  // namespace
}  // namespace normforge

NORMFORGE_PEER_OF(normforge::OneDnn);
