#include "autotune/measure/operand_values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "autotune/measure/call_operands.h"
#include "autotune/measure/operand_layout.h"
#include "runtime/float_types.h"
#include "runtime/reference.h"

namespace normforge {

namespace {

std::vector<float> &of(OperandValues &values, OperandId id) {
    return values[static_cast<size_t>(id)];
}

// What a forward pass leaves for backward, from what it reads.
void save_for_backward(const NormProblem &problem, int64_t rows, OperandValues &values) {
    NormProblem forward = problem;
    forward.pass = NF_FORWARD;
    const CallOperands operands(forward, rows, 1, values);
    for (int64_t row = 0; row < rows; row++) {
        const ReferenceNorm exact = reference_norm(forward, one_row(forward, operands.arguments(), 0, row));
        of(values, OperandId::mean).push_back(static_cast<float>(exact.mean[0]));
        of(values, OperandId::rstd).push_back(static_cast<float>(exact.rstd[0]));
        for (double h : exact.h) {
            of(values, OperandId::sum).push_back(static_cast<float>(h));
        }
    }
    of(values, OperandId::sum) =
        rounded_to(problem.sum == NF_NONE ? NF_F32 : problem.sum, std::move(of(values, OperandId::sum)));
}

}  // namespace

OperandValues read_values(const NormProblem &problem, const std::vector<TestRow> &rows, float epsilon,
                          uint64_t seed) {
    const auto hidden = static_cast<size_t>(problem.hidden);
    const auto vector = [&](nf_dtype type, double mean, double deviation, uint64_t vector_seed) {
        return type == NF_NONE ? std::vector<float>()
                               : rounded_to(type, normal_values(hidden, mean, deviation, vector_seed));
    };
    OperandValues values;
    of(values, OperandId::weight) =
        vector(problem.weight, problem.weight_offset == NF_OFFSET_ONE ? 0 : 1, 0.5, seed);
    of(values, OperandId::bias) = vector(problem.bias, 0, 1, seed + 1);
    of(values, OperandId::epsilon) = {epsilon};
    if (problem.scale == NF_SCALE_STATIC) {
        // The largest magnitudes are beyond the type's.
        of(values, OperandId::scale) = {static_cast<float>(2 / largest_value(problem.output))};
    }
    for (const TestRow &row : rows) {
        const auto append = [&](OperandId id, const std::vector<float> &own) {
            of(values, id).insert(of(values, id).end(), own.begin(), own.end());
        };
        append(OperandId::x, row.x);
        append(OperandId::residual, row.residual);
        append(OperandId::dy, row.dy);
    }
    if (problem.pass == NF_BACKWARD) {
        save_for_backward(problem, static_cast<int64_t>(rows.size()), values);
        of(values, OperandId::dsum) =
            problem.sum == NF_NONE ? std::vector<float>()
                                   : rounded_to(problem.sum, normal_values(rows.size() * hidden, 0, 1, seed + 2));
    }
    for (const Operand &operand : kOperands) {
        if (operand_type(problem, operand) == NF_NONE || is_written(problem, operand)) {
            of(values, operand.id).clear();
        }
    }
    return values;
}

OperandValues rows_of_values(const NormProblem &problem, const OperandValues &values,
                             std::span<const size_t> rows) {
    OperandValues result;
    for (const Operand &operand : kOperands) {
        const std::vector<float> &all = values[static_cast<size_t>(operand.id)];
        const bool shared = operand.shape == OperandShape::vector || operand.shape == OperandShape::number;
        if (all.empty() || shared) {
            of(result, operand.id) = all;
            continue;
        }
        const auto length = value_count(problem, operand, 1);
        for (size_t row : rows) {
            const auto first = all.begin() + static_cast<int64_t>(row) * length;
            of(result, operand.id).insert(of(result, operand.id).end(), first, first + length);
        }
    }
    return result;
}

OperandValues written_values(const NormProblem &problem, const nf_arguments &arguments) {
    const int64_t groups = std::max<int64_t>(1, arguments.groups);
    OperandValues values;
    for (const Operand &operand : kOperands) {
        const nf_dtype type = operand_type(problem, operand);
        if (type == NF_NONE || !is_written(problem, operand)) {
            continue;
        }
        std::vector<float> &own = of(values, operand.id);
        const void *data = load_field<const void *>(arguments, operand);
        const auto append = [&](int64_t first, int64_t count) {
            for (int64_t i = first; i < first + count; i++) {
                const auto value = static_cast<float>(load_value(data, type, i));
                own.push_back(std::isnan(value) ? std::numeric_limits<float>::quiet_NaN() : value);
            }
        };
        if (operand.shape == OperandShape::rows) {
            for_each_row(load_field<RowsField>(arguments, operand), arguments.rows, groups,
                         [&](int64_t place, int64_t) { append(place, problem.hidden); });
        } else {
            append(0, value_count(problem, operand, groups * arguments.rows));
        }
    }
    return values;
}

}  // namespace normforge
