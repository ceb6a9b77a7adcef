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

template <typename Field>
void store_field(nf_arguments &arguments, const Operand &operand, const Field &field) {
    std::memcpy(reinterpret_cast<char *>(&arguments) + operand.offset, &field, sizeof field);
}

template <size_t index>
using OperandIndex = std::integral_constant<size_t, index>;
template <OperandId id>
inline constexpr OperandIndex<static_cast<size_t>(id)> operand_index{};

// visit(OperandIndex) for one operand after the other, until one returns false: whether none did. The index is a
// constant in each call and all is inlined, so that a call with a handful of operands pays for no look-up in the
// table.
template <typename Visitor>
[[gnu::flatten]] bool visit_operands(Visitor &&visit) {
    return [&]<size_t... index>(std::index_sequence<index...>) {
        return (visit(OperandIndex<index>{}) && ...);
    }
    (std::make_index_sequence<kOperandCount>{});
}

}  // namespace normforge
