#pragma once

#include <cstring>
#include <type_traits>
#include <utility>

#include "runtime/operands.h"

// The runtime's way to the fields of nf_arguments, by the table of operands.

namespace normforge {

// nf_input and nf_output alike.
struct RowsField {
    char *data;
    int64_t row_stride;
    int64_t group_stride;
};
static_assert(sizeof(RowsField) == sizeof(nf_input) && sizeof(RowsField) == sizeof(nf_output));

template <typename Field>
Field load_field(const nf_arguments &arguments, const Operand &operand) {
    Field field;
    std::memcpy(&field, reinterpret_cast<const char *>(&arguments) + operand.offset, sizeof field);
    return field;
}

// Member by member, so that what is used stays in registers: as a whole it is copied through the stack.
template <>
inline RowsField load_field(const nf_arguments &arguments, const Operand &operand) {
    RowsField field;
    const char *source = reinterpret_cast<const char *>(&arguments) + operand.offset;
    std::memcpy(&field.data, source + offsetof(RowsField, data), sizeof field.data);
    std::memcpy(&field.row_stride, source + offsetof(RowsField, row_stride), sizeof field.row_stride);
    std::memcpy(&field.group_stride, source + offsetof(RowsField, group_stride), sizeof field.group_stride);
    return field;
}

template <typename Field>
void store_field(nf_arguments &arguments, const Operand &operand, const Field &field) {
    std::memcpy(reinterpret_cast<char *>(&arguments) + operand.offset, &field, sizeof field);
}

template <size_t index>
using OperandIndex = std::integral_constant<size_t, index>;
template <OperandId id>
inline constexpr OperandIndex<static_cast<size_t>(id)> operand_index{};

// visit(OperandIndex, type) if a problem of this pass has the operand: false if that returned false. The operand
// and the pass are constants, so that operands of the other pass cost nothing and those of this one no look-up in
// the table.
template <nf_pass pass, typename Visitor, size_t index>
bool visit_operand(const NormProblem &problem, Visitor &&visit, OperandIndex<index> operand) {
    NormProblem of_pass = problem;
    of_pass.pass = pass;
    const nf_dtype type = operand_type(of_pass, kOperands[index]);
    return type == NF_NONE || visit(operand, type);
}

// One operand after the other, until a visit returns false: whether none did.
template <nf_pass pass, typename Visitor>
[[gnu::flatten]] bool visit_operands(const NormProblem &problem, Visitor &&visit) {
    return [&]<size_t... index>(std::index_sequence<index...>) {
        return (visit_operand<pass>(problem, visit, OperandIndex<index>{}) && ...);
    }
    (std::make_index_sequence<kOperandCount>{});
}

// Makes part the call for these rows of a group of the whole call.
template <nf_pass pass>
inline void take_rows(const NormProblem &problem, const nf_arguments &whole, int64_t group, int64_t row,
                      int64_t rows, nf_arguments &part) {
    part.rows = rows;
    visit_operands<pass>(problem, [&](auto index, nf_dtype type) {
        constexpr const Operand &operand = kOperands[index];
        const auto value_bytes = static_cast<int64_t>(element_size(type));
        if constexpr (operand.shape == OperandShape::rows) {
            auto field = load_field<RowsField>(whole, operand);
            const int64_t group_values = group == 0 ? 0 : group * field.group_stride;
            const int64_t row_values = row == 0 ? 0 : row * field.row_stride;
            field.data += (group_values + row_values) * value_bytes;
            field.row_stride = rows == 1 ? problem.hidden : field.row_stride;
            store_field(part, operand, field);
        } else if constexpr (operand.shape == OperandShape::row_values) {
            auto *data = load_field<char *>(whole, operand);
            store_field(part, operand, data + (group * whole.rows + row) * value_bytes);
        }
        return true;
    });
}

}  // namespace normforge
