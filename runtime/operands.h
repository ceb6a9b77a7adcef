#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "runtime/norm_problem.h"

namespace normforge {

// Everything that a kernel works on, declared once: the checks of nf_run, the parameters of the generators and of
// the compiled kernels, and the tools' buffers come from this table.

enum class OperandShape {
    rows,        // groups x rows x hidden values, by nf_input or nf_output
    row_values,  // groups x rows values
    vector,      // hidden values that all rows share
    number,      // one f32 in nf_arguments itself
};

enum class OperandId {
    x,
    residual,
    dy,
    dsum,
    weight,
    bias,
    epsilon,
    scale,
    mean,
    rstd,
    scales,
    dweight,
    dbias,
    y,
    sum,
    dx,
    dresidual,
};

struct Operand {
    OperandId id;
    const char *name;  // of the field of nf_arguments
    OperandShape shape;
    size_t offset;  // of that field, in bytes
};

#define NORMFORGE_OPERAND(name, shape)                                                                            \
    Operand {                                                                                                     \
        OperandId::name, #name, OperandShape::shape, offsetof(nf_arguments, name)                                 \
    }
// In the order of the kernels' parameters, but that there all that the problem reads comes first. Halide makes
// the outputs in this order: dx and dresidual, which may lie over what the sums over rows read, after those.
inline constexpr Operand kOperands[] = {
    NORMFORGE_OPERAND(x, rows),
    NORMFORGE_OPERAND(residual, rows),
    NORMFORGE_OPERAND(dy, rows),
    NORMFORGE_OPERAND(dsum, rows),
    NORMFORGE_OPERAND(weight, vector),
    NORMFORGE_OPERAND(bias, vector),
    NORMFORGE_OPERAND(epsilon, number),
    NORMFORGE_OPERAND(scale, number),
    NORMFORGE_OPERAND(mean, row_values),
    NORMFORGE_OPERAND(rstd, row_values),
    NORMFORGE_OPERAND(scales, row_values),
    NORMFORGE_OPERAND(dweight, vector),
    NORMFORGE_OPERAND(dbias, vector),
    NORMFORGE_OPERAND(y, rows),
    NORMFORGE_OPERAND(sum, rows),
    NORMFORGE_OPERAND(dx, rows),
    NORMFORGE_OPERAND(dresidual, rows),
};
#undef NORMFORGE_OPERAND
inline constexpr size_t kOperandCount = std::size(kOperands);

constexpr const Operand &operand(OperandId id) {
    return kOperands[static_cast<size_t>(id)];
}
static_assert([] {
    for (size_t index = 0; index < kOperandCount; index++) {
        if (kOperands[index].id != static_cast<OperandId>(index)) {
            return false;
        }
    }
    return true;
}());

// The type of the operand's values, or NF_NONE where the problem has no such operand.
constexpr nf_dtype operand_type(const NormProblem &problem, const Operand &operand) {
    const bool backward = problem.pass == NF_BACKWARD;
    const auto if_forward = [&](nf_dtype type) { return backward ? NF_NONE : type; };
    const auto if_backward = [&](nf_dtype type) { return backward ? type : NF_NONE; };
    const bool reads_sum = backward && problem.sum != NF_NONE;
    const nf_dtype saved = problem.saved_statistics == NF_YES ? NF_F32 : NF_NONE;
    switch (operand.id) {
    case OperandId::x:
        return reads_sum ? NF_NONE : problem.dtype;
    case OperandId::residual:
        return reads_sum ? NF_NONE : problem.residual;
    case OperandId::dy:
        return if_backward(problem.output);
    case OperandId::dsum:
        return if_backward(problem.sum);
    case OperandId::weight:
        return problem.weight;
    case OperandId::bias:
        return if_forward(problem.bias);
    case OperandId::epsilon:
        return if_forward(NF_F32);
    case OperandId::scale:
        return problem.scale == NF_SCALE_STATIC ? NF_F32 : NF_NONE;
    case OperandId::y:
        return if_forward(problem.output);
    case OperandId::sum:
        return problem.sum;
    case OperandId::mean:
        return problem.op == NF_LAYER_NORM ? saved : NF_NONE;
    case OperandId::rstd:
        return saved;
    case OperandId::scales:
        return problem.scale == NF_SCALE_PER_ROW ? NF_F32 : NF_NONE;
    case OperandId::dx:
        return if_backward(problem.dtype);
    case OperandId::dresidual:
        return if_backward(problem.residual);
    case OperandId::dweight:
        return if_backward(problem.weight);
    case OperandId::dbias:
        return if_backward(problem.bias);
    }
    return NF_NONE;
}

// Whether the problem writes the operand. mean, rstd and sum are what backward reads of what forward wrote.
constexpr bool is_written(const NormProblem &problem, const Operand &operand) {
    switch (operand.id) {
    case OperandId::sum:
    case OperandId::mean:
    case OperandId::rstd:
        return problem.pass == NF_FORWARD;
    case OperandId::y:
    case OperandId::scales:
    case OperandId::dx:
    case OperandId::dresidual:
    case OperandId::dweight:
    case OperandId::dbias:
        return true;
    default:
        return false;
    }
}

// Whether it is what backward writes.
constexpr bool is_gradient(const Operand &operand) {
    return operand.id == OperandId::dweight || operand.id == OperandId::dbias || operand.id == OperandId::dx ||
           operand.id == OperandId::dresidual;
}

// Of the narrowest value in the rows that are written.
constexpr size_t written_value_bytes(const NormProblem &problem) {
    size_t least = sizeof(double);
    for (const Operand &operand : kOperands) {
        const nf_dtype type = operand_type(problem, operand);
        if (operand.shape == OperandShape::rows && type != NF_NONE && is_written(problem, operand)) {
            least = std::min(least, element_size(type));
        }
    }
    return least;
}

}  // namespace normforge
