#include "autotune/measure/device_call.h"

#include <algorithm>

#include "runtime/check_arguments.h"
#include "runtime/operand_fields.h"

namespace normforge {

namespace {

struct Range {
    char *begin;
    char *end;
};

Range range_of(const NormProblem &problem, const nf_arguments &arguments, const Operand &operand) {
    const int64_t groups = group_count(arguments);
    const auto field = operand.shape == OperandShape::rows
                           ? load_field<RowsField>(arguments, operand)
                           : RowsField{load_field<char *>(arguments, operand), 1, arguments.rows};
    const int64_t values = operand.shape == OperandShape::row_values ? 1 : problem.hidden;
    int64_t reach = values;
    if (operand.shape != OperandShape::vector) {
        reach += (arguments.rows > 1 ? (arguments.rows - 1) * field.row_stride : 0) +
                 (groups > 1 ? (groups - 1) * field.group_stride : 0);
    }
    const auto bytes = static_cast<int64_t>(element_size(operand_type(problem, operand)));
    return {field.data, field.data + reach * bytes};
}

}  // namespace

DeviceCall::DeviceCall(const CudaDevice &device, const NormProblem &problem, const nf_arguments &host,
                       int64_t workspace_bytes)
    : device_(device), arguments_(host),
      workspace_(device, static_cast<size_t>(std::max<int64_t>(1, workspace_bytes))) {
    arguments_.workspace = workspace_.data();
    const auto has_memory = [&](const Operand &operand) {
        return operand.shape != OperandShape::number && operand_type(problem, operand) != NF_NONE;
    };
    for (const Operand &operand : kOperands) {
        if (has_memory(operand)) {
            const Range range = range_of(problem, host, operand);
            blocks_.push_back({range.begin, range.end, is_written(problem, operand), nullptr});
        }
    }
    std::ranges::sort(blocks_, {}, &Block::begin);
    for (size_t index = 0; index + 1 < blocks_.size();) {
        Block &block = blocks_[index];
        const Block &next = blocks_[index + 1];
        if (next.begin >= block.end) {
            index++;
            continue;
        }
        block.end = std::max(block.end, next.end);
        block.is_written = block.is_written || next.is_written;
        blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(index) + 1);
    }
    for (Block &block : blocks_) {
        const auto bytes = static_cast<size_t>(block.end - block.begin);
        block.copy = std::make_unique<DeviceMemory>(device, bytes);
        device.copy_to_device(block.copy->data(), block.begin, bytes);
    }
    for (const Operand &operand : kOperands) {
        if (!has_memory(operand)) {
            continue;
        }
        // The data is the first member of nf_input and nf_output.
        auto *data = load_field<char *>(host, operand);
        const auto block = std::ranges::find_if(
            blocks_, [&](const Block &each) { return each.begin <= data && data < each.end; });
        store_field(arguments_, operand, block->copy->data() + (data - block->begin));
    }
}

void DeviceCall::bring_back() const {
    for (const Block &block : blocks_) {
        if (block.is_written) {
            device_.copy_to_host(block.begin, block.copy->data(), static_cast<size_t>(block.end - block.begin));
        }
    }
}

}  // namespace normforge
