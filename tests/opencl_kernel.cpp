#include "tests/opencl_kernel.h"

#include "generators/gpu_emit.h"
#include "generators/lowering.h"
#include "generators/value_types.h"
#include "runtime/operand_fields.h"

namespace normforge {

namespace {

// With Halide's runtime, which the other targets are without.
Halide::Target jit_target() {
    return opencl_target().without_feature(Halide::Target::NoRuntime).with_feature(Halide::Target::JIT);
}

}  // namespace

OpenClKernel::OpenClKernel(const NormProblem &problem, const GpuKnobs &knobs)
    : problem_(problem), operands_(kernel_parameters(problem)),
      generator_(norm_generator(problem, {{"gpu", to_text(knobs)}, {"gpu_alignment", "value"}}, jit_target())) {
    pipeline_ = generator_->build_pipeline();
    const auto arguments = generator_->arginfos();
    for (size_t index = 0; index < operands_.size() && !is_written(problem, operands_[index]); index++) {
        inputs_.push_back(generator_->input_parameter(arguments[index].name));
    }
    pipeline_.compile_jit(jit_target());
}

Halide::Buffer<> OpenClKernel::buffer(const nf_arguments &arguments, const Operand &operand) const {
    const auto hidden = static_cast<int>(problem_.hidden);
    const auto rows = static_cast<int>(arguments.rows);
    const Halide::Type type = stored_type(operand_type(problem_, operand));
    const bool has_rows = operand.shape != OperandShape::vector;
    const auto stride = operand.shape == OperandShape::rows
                            ? static_cast<int>(load_field<RowsField>(arguments, operand).row_stride)
                            : 1;
    const halide_dimension_t dimensions[] = {{0, hidden, operand.shape == OperandShape::row_values ? 0 : 1},
                                             {0, rows, stride}};
    // The data is the first member of nf_input and nf_output.
    return Halide::Buffer<>(type, load_field<void *>(arguments, operand), has_rows ? 2 : 1, dimensions);
}

void OpenClKernel::run(const nf_arguments &arguments) {
    std::vector<Halide::Buffer<>> outputs;
    for (size_t index = 0; index < operands_.size(); index++) {
        const Operand &operand = operands_[index];
        if (is_written(problem_, operand)) {
            outputs.push_back(buffer(arguments, operand));
        } else if (operand.shape == OperandShape::number) {
            inputs_[index].front().set_scalar(load_field<float>(arguments, operand));
        } else {
            Halide::Buffer<> input = buffer(arguments, operand);
            input.set_host_dirty();
            inputs_[index].front().set_buffer(input);
        }
    }
    Halide::Realization results(outputs);
    pipeline_.realize(results, jit_target());
    for (Halide::Buffer<> &output : outputs) {
        output.copy_to_host();
    }
}

}  // namespace normforge
