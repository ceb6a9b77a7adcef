#pragma once

#include "Halide.h"
#include "generators/gpu_emit.h"
#include "generators/lowering.h"
#include "generators/value_types.h"
#include "runtime/gradient_sums.h"

namespace normforge {

// The kernel that adds up backward's partial sums, compiled by Halide for this CPU or for its OpenCL device.
class SumsKernel {
public:
    SumsKernel(const NormProblem &problem, const Halide::Target &target)
        : problem_(problem),
          target_(target.without_feature(Halide::Target::NoRuntime).with_feature(Halide::Target::JIT)),
          generator_(generator_of("gpu_sums", gpu_sums_params(problem), target_)) {
        pipeline_ = generator_->build_pipeline();
        input_ = generator_->input_parameter("partial_sums");
        pipeline_.compile_jit(target_);
    }

    void run(float *partial_sums, int64_t slices, void *dweight, void *dbias) {
        const auto values = static_cast<int>(gradient_values(problem_));
        const auto hidden = static_cast<int>(problem_.hidden);
        Halide::Buffer<float> input(partial_sums, {values, static_cast<int>(slices)});
        input.set_host_dirty();
        input_.front().set_buffer(input);
        std::vector<Halide::Buffer<>> outputs;
        for (const auto &[type, data] : {std::pair{problem_.weight, dweight}, {problem_.bias, dbias}}) {
            if (type != NF_NONE) {
                outputs.emplace_back(stored_type(type), data, std::vector<int>{hidden});
            }
        }
        Halide::Realization results(outputs);
        pipeline_.realize(results, target_);
        for (Halide::Buffer<> &output : outputs) {
            output.copy_to_host();
        }
    }

private:
    const NormProblem problem_;
    const Halide::Target target_;
    Halide::Internal::AbstractGeneratorPtr generator_;
    std::vector<Halide::Parameter> input_;
    Halide::Pipeline pipeline_;
};

}  // namespace normforge
