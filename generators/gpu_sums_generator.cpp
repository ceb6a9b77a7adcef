// The last step of backward on a GPU as a Halide generator.

#include <string>
#include <vector>

#include "Halide.h"
#include "generators/gpu_sums.h"
#include "generators/plain_parameters.h"
#include "generators/vector_nan_tests.h"
#include "runtime/norm_problem.h"
#include "schedules/target.h"

namespace normforge {

namespace {

using Halide::GeneratorParam;

class GpuSumsGenerator : public Halide::Generator<GpuSumsGenerator> {
public:
    GeneratorParam<std::string> weight{"weight", "none"};
    GeneratorParam<std::string> bias{"bias", "none"};
    GeneratorParam<int> hidden{"hidden", 4096};

    Input<Buffer<float, 2>> partial_sums{"partial_sums"};

    void configure() {
        for (const auto &[name, text] : {std::pair{"weight", weight.value()}, {"bias", bias.value()}}) {
            nf_dtype type{};
            parse_field(name, text, type);
            if (type != NF_NONE) {
                types_.push_back(type);
            }
        }
        std::vector<Halide::Type> stored;
        for (const nf_dtype type : types_) {
            stored.push_back(stored_type(type));
        }
        sums_ = add_output<Halide::Func>("gradients", stored, 1);
    }

    void generate() {
        const int values = static_cast<int>(types_.size()) * hidden;
        partial_sums.dim(0).set_bounds(0, values);
        partial_sums.dim(1).set_min(0).set_stride(values);
        const Halide::Target &machine = get_target();
        SumStages stages = define_gpu_sums(partial_sums, partial_sums.dim(1).extent(), hidden, types_,
                                           ValueConversion(converts_f16(machine)));
        stages.sums.output_buffers()[0].dim(0).set_bounds(0, hidden);
        *sums_ = stages.sums;
        schedule_gpu_sums(stages, gpu_form(machine));
        if (gpu_form(machine) == GpuForm::barriers) {
            get_pipeline().add_custom_lowering_pass(new VectorNanTests);
        } else if (gpu_form(machine) == GpuForm::warps) {
            get_pipeline().add_custom_lowering_pass(new PlainParameters);
        }
    }

private:
    std::vector<nf_dtype> types_;
    Halide::GeneratorOutput<Halide::Func> *sums_ = nullptr;
};

}  // namespace

}  // namespace normforge

HALIDE_REGISTER_GENERATOR(normforge::GpuSumsGenerator, gpu_sums)
