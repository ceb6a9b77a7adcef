#include "tests/opencl_kernel.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "generators/gpu_emit.h"
#include "generators/lowering.h"
#include "generators/value_types.h"
#include "runtime/gradient_sums.h"
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
    if (problem_.pass == NF_BACKWARD && operand.shape == OperandShape::row_values) {
        const halide_dimension_t of_rows[] = {{0, rows, 1}};
        return Halide::Buffer<>(type, load_field<void *>(arguments, operand), 1, of_rows);
    }
    const bool has_rows = operand.shape != OperandShape::vector;
    const auto stride = operand.shape == OperandShape::rows
                            ? static_cast<int>(load_field<RowsField>(arguments, operand).row_stride)
                            : 1;
    const halide_dimension_t dimensions[] = {{0, hidden, operand.shape == OperandShape::row_values ? 0 : 1},
                                             {0, rows, stride}};
    // The data is the first member of nf_input and nf_output.
    return Halide::Buffer<>(type, load_field<void *>(arguments, operand), has_rows ? 2 : 1, dimensions);
}

// Some, to go wrong where they meet, of as many rows each: a buffer would reach beyond the last row.
int OpenClKernel::slices(const nf_arguments &arguments) const {
    int result = 6;
    while (arguments.rows % result != 0) {
        result--;
    }
    return result;
}

// (value, row of a slice, slice)
Halide::Buffer<> OpenClKernel::gradient_buffer(const nf_arguments &arguments, const Operand &operand) {
    const auto hidden = static_cast<int>(problem_.hidden);
    const int slice_count = slices(arguments);
    const int rows = static_cast<int>((arguments.rows - 1) / slice_count + 1);
    if (operand.shape == OperandShape::rows) {
        const auto field = load_field<RowsField>(arguments, operand);
        const auto stride = static_cast<int>(field.row_stride);
        const halide_dimension_t dimensions[] = {
            {0, hidden, 1}, {0, rows, slice_count * stride}, {0, slice_count, stride}};
        return Halide::Buffer<>(stored_type(operand_type(problem_, operand)), field.data, 3, dimensions);
    }
    const auto values = static_cast<int>(gradient_values(problem_));
    const halide_dimension_t dimensions[] = {{0, hidden, 1}, {0, rows, 0}, {0, slice_count, values}};
    float *sums = partial_sums_.data() + (operand.id == OperandId::dbias ? values - hidden : 0);
    return Halide::Buffer<>(Halide::Float(32), sums, 3, dimensions);
}

void OpenClKernel::set_number(const char *input, int value) {
    generator_->input_parameter(input).front().set_scalar(value);
}

void OpenClKernel::run(const nf_arguments &arguments) {
    const bool is_backward = problem_.pass == NF_BACKWARD;
    if (is_backward) {
        partial_sums_.assign(static_cast<size_t>(slices(arguments) * gradient_values(problem_)), NAN);
        set_number(kSlicesInput, slices(arguments));
        set_number(kContinuesInput, 0);
    }
    std::vector<Halide::Buffer<>> outputs;
    for (size_t index = 0; index < operands_.size(); index++) {
        const Operand &operand = operands_[index];
        if (is_written(problem_, operand)) {
            outputs.push_back(is_backward ? gradient_buffer(arguments, operand) : buffer(arguments, operand));
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
    for (const auto &[sums, first] : {std::pair{arguments.dweight, int64_t{0}},
                                      {arguments.dbias, gradient_values(problem_) - problem_.hidden}}) {
        for (int64_t value = 0; is_backward && sums && value < problem_.hidden; value++) {
            float sum = 0;
            for (int64_t slice = 0; slice < slices(arguments); slice++) {
                sum += partial_sums_[static_cast<size_t>(slice * gradient_values(problem_) + first + value)];
            }
            static_cast<float *>(sums)[value] = sum;
        }
    }
}

}  // namespace normforge
