#include "autotune/measure/call_operands.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "autotune/measure/operand_layout.h"
#include "runtime/float_types.h"
#include "runtime/gradient_sums.h"

namespace normforge {

namespace {

// As f32, f16 or bf16 these bytes are a NaN.
constexpr auto kNanByte = std::byte{0xff};
constexpr auto kUnwritten = std::byte{0xa5};

}  // namespace

CallOperands::CallOperands(const NormProblem &problem, int64_t rows, int64_t groups, const OperandValues &values,
                           Gaps gaps)
    : problem_(problem), workspace_(static_cast<size_t>(gradient_workspace_bytes(problem, rows, groups))) {
    arguments_.rows = rows;
    arguments_.groups = groups;
    for (const Operand &operand : kOperands) {
        if (operand_type(problem, operand) != NF_NONE) {
            add(operand, values[static_cast<size_t>(operand.id)], gaps);
        }
    }
    std::ranges::fill(workspace_.bytes(), kNanByte);
    arguments_.workspace = workspace_.bytes().data();
}

void CallOperands::add(const Operand &operand, const std::vector<float> &values, Gaps gaps) {
    if (operand.shape == OperandShape::number) {
        store_field(arguments_, operand, values.at(0));
        return;
    }
    const nf_dtype type = operand_type(problem_, operand);
    const int64_t groups = arguments_.groups;
    const bool rows = operand.shape == OperandShape::rows;
    int64_t reach = value_count(problem_, operand, arguments_.rows * groups);
    RowsField field{};
    if (rows) {
        const int64_t gap = gaps == with_gaps ? 3 + 2 * static_cast<int64_t>(operand.id) : 0;
        field.group_stride = problem_.hidden + gap;
        field.row_stride = groups * field.group_stride + (gap > 0 && groups > 1);
        reach = (arguments_.rows - 1) * field.row_stride + (groups - 1) * field.group_stride + problem_.hidden;
    }
    GuardedBytes guarded(static_cast<size_t>(reach) * element_size(type));
    const std::span<std::byte> bytes = guarded.bytes();
    field.data = reinterpret_cast<char *>(bytes.data());
    if (rows) {
        store_field(arguments_, operand, field);
    } else {
        store_field(arguments_, operand, field.data);
    }
    const bool written = is_written(problem_, operand);
    std::ranges::fill(bytes, written ? kUnwritten : kNanByte);
    const auto store = [&](int64_t place, int64_t first, int64_t count) {
        for (int64_t i = 0; i < count; i++) {
            store_value(bytes.data(), type, place + i, values.at(static_cast<size_t>(first + i)));
        }
    };
    if (!written && rows) {
        for_each_row(field, arguments_.rows, groups,
                     [&](int64_t place, int64_t row) { store(place, row * problem_.hidden, problem_.hidden); });
    } else if (!written) {
        store(0, 0, reach);
    }
    memory_.push_back({&operand, type, std::move(guarded), {bytes.begin(), bytes.end()}});
}

nf_arguments CallOperands::in_place() const {
    nf_arguments result = arguments_;
    std::vector<const Memory *> read;
    for (const Memory &memory : memory_) {
        if (memory.operand->shape == OperandShape::rows && !is_written(problem_, *memory.operand)) {
            read.push_back(&memory);
        }
    }
    for (const Memory &memory : memory_) {
        if (memory.operand->shape != OperandShape::rows || !is_written(problem_, *memory.operand)) {
            continue;
        }
        const auto under = std::ranges::find_if(read, [&](const Memory *candidate) {
            return element_size(candidate->type) == element_size(memory.type);
        });
        if (under != read.end()) {
            store_field(result, *memory.operand, load_field<RowsField>(arguments_, *(*under)->operand));
            read.erase(under);
        }
    }
    return result;
}

bool CallOperands::may_change(const Memory &memory, const nf_arguments &called) const {
    return std::ranges::any_of(memory_, [&](const Memory &candidate) {
        return is_written(problem_, *candidate.operand) &&
               load_field<std::byte *>(called, *candidate.operand) == memory.guarded.bytes().data();
    });
}

std::optional<std::string> CallOperands::damaged(const nf_arguments &called) const {
    for (const Memory &memory : memory_) {
        const std::span<const std::byte> bytes = memory.guarded.bytes();
        std::vector<std::byte> allowed = memory.initial;
        const auto allow = [&](int64_t place, int64_t count) {
            const size_t value_bytes = element_size(memory.type);
            const auto first = static_cast<size_t>(place) * value_bytes;
            std::memcpy(&allowed[first], &bytes[first], static_cast<size_t>(count) * value_bytes);
        };
        if (may_change(memory, called) && memory.operand->shape == OperandShape::rows) {
            for_each_row(load_field<RowsField>(arguments_, *memory.operand), arguments_.rows, arguments_.groups,
                         [&](int64_t place, int64_t) { allow(place, problem_.hidden); });
        } else if (may_change(memory, called)) {
            continue;
        }
        if (!std::ranges::equal(allowed, bytes)) {
            return memory.operand->name;
        }
    }
    return {};
}

}  // namespace normforge
