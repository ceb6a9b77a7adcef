#include "runtime/check_arguments.h"

#include <cfloat>
#include <span>

#include "runtime/gradient_sums.h"
#include "runtime/memory_rows.h"
#include "runtime/operand_fields.h"

namespace normforge {

namespace {

constexpr Fault kNoFault{NF_SUCCESS, nullptr};
constexpr MemoryAxis kOnce{1, 0};

struct OperandMemory {
    MemoryRange range;
    const Operand *operand;  // null for the workspace
};

bool has_rows(const OperandMemory &memory) {
    return memory.operand && memory.operand->shape == OperandShape::rows;
}

MemoryRows rows_of(const NormProblem &problem, const nf_arguments &arguments, const OperandMemory &memory) {
    if (!has_rows(memory)) {
        const auto bytes = static_cast<int64_t>(memory.range.end - memory.range.begin);
        return find_rows(memory.range, bytes, 1, kOnce, kOnce);
    }
    const auto field = load_field<RowsField>(arguments, *memory.operand);
    const size_t value_bytes = element_size(operand_type(problem, *memory.operand));
    return find_rows(memory.range, problem.hidden, static_cast<int64_t>(value_bytes),
                     {arguments.rows, field.row_stride}, {group_count(arguments), field.group_stride});
}

// Of two operands whose ranges meet.
[[gnu::noinline]] bool are_shared(const NormProblem &problem, const nf_arguments &arguments,
                                  const OperandMemory &written, const OperandMemory &other,
                                  bool in_place_allowed) {
    const MemoryRows written_rows = rows_of(problem, arguments, written);
    const MemoryRows other_rows = rows_of(problem, arguments, other);
    if (in_place_allowed && has_rows(written) && has_rows(other) && is_same_memory(written_rows, other_rows)) {
        return false;
    }
    return may_share_memory(written_rows, other_rows);
}

// The operand that is written where another one is, or null.
const OperandMemory *find_overlap(const NormProblem &problem, const nf_arguments &arguments,
                                  std::span<const OperandMemory> all_read,
                                  std::span<const OperandMemory> all_written) {
    for (const OperandMemory &written : all_written) {
        for (const OperandMemory &read : all_read) {
            if (ranges_meet(written.range, read.range) && are_shared(problem, arguments, written, read, true)) {
                return &written;
            }
        }
        for (const OperandMemory &other : all_written) {
            if (&other == &written) {
                break;
            }
            if (ranges_meet(written.range, other.range) && are_shared(problem, arguments, written, other, false)) {
                return &written;
            }
        }
    }
    return nullptr;
}

nf_status check_pointer(const void *data, int64_t value_bytes) {
    if (!data) {
        return NF_ERROR_NULL_OPERAND;
    }
    const auto alignment = static_cast<uintptr_t>(value_bytes);
    return (reinterpret_cast<uintptr_t>(data) & (alignment - 1)) == 0 ? NF_SUCCESS : NF_ERROR_MISALIGNED;
}

nf_status check_values(const void *data, int64_t values, int64_t value_bytes, MemoryRange &range) {
    if (nf_status status = check_pointer(data, value_bytes)) {
        return status;
    }
    return find_range(data, values, value_bytes, kOnce, kOnce, range) ? NF_SUCCESS : NF_ERROR_TOO_LARGE;
}

inline nf_status check_rows(const RowsField &field, MemoryAxis groups, const NormProblem &problem,
                            const nf_arguments &arguments, int64_t value_bytes, bool written, MemoryRange &range) {
    const MemoryAxis rows{arguments.rows, field.row_stride};
    if (nf_status status = check_pointer(field.data, value_bytes)) {
        return status;
    }
    const int64_t least_stride = written ? problem.hidden : 0;
    if ((rows.count > 1 && rows.stride < least_stride) || (groups.count > 1 && groups.stride < least_stride)) {
        return NF_ERROR_BAD_STRIDE;
    }
    if (!find_range(field.data, problem.hidden, value_bytes, rows, groups, range)) {
        return NF_ERROR_TOO_LARGE;
    }
    const bool two_strides = rows.count > 1 && groups.count > 1;
    return written && two_strides && !rows_are_apart(find_rows(range, problem.hidden, value_bytes, rows, groups))
               ? NF_ERROR_BAD_STRIDE
               : NF_SUCCESS;
}

// Out of line, so that a single group, the usual case, does not pay for the second stride.
[[gnu::noinline]] nf_status check_groups(const Operand &operand, const NormProblem &problem,
                                         const nf_arguments &arguments, int64_t value_bytes, bool written,
                                         MemoryRange &range) {
    const auto field = load_field<RowsField>(arguments, operand);
    return check_rows(field, {group_count(arguments), field.group_stride}, problem, arguments, value_bytes,
                      written, range);
}

// Checks a call's operands one by one and collects the memory that they reach. Nothing takes its address, so that
// it lives in registers.
class ArgumentChecks {
public:
    ArgumentChecks(const NormProblem &problem, const nf_arguments &arguments, OperandMemory *read,
                   OperandMemory *written)
        : problem_(problem), arguments_(arguments), groups_(group_count(arguments)), read_end_(read),
          written_end_(written) {}

    template <const Operand &operand>
    nf_status check_operand() {
        const nf_dtype type = operand_type(problem_, operand);
        if (type == NF_NONE) {
            return NF_SUCCESS;
        }
        if constexpr (operand.shape == OperandShape::number) {
            return check_number<operand>();
        } else {
            const bool written = is_written(problem_, operand);
            OperandMemory &memory = written ? *written_end_++ : *read_end_++;
            memory.operand = &operand;
            const auto value_bytes = static_cast<int64_t>(element_size(type));
            if constexpr (operand.shape == OperandShape::rows) {
                return groups_ == 1
                           ? check_rows(load_field<RowsField>(arguments_, operand), kOnce, problem_, arguments_,
                                        value_bytes, written, memory.range)
                           : check_groups(operand, problem_, arguments_, value_bytes, written, memory.range);
            } else if constexpr (operand.shape == OperandShape::row_values) {
                int64_t values = 0;
                // The rows of so many values, which are written or were, reach too far as well.
                return __builtin_mul_overflow(arguments_.rows, groups_, &values)
                           ? NF_ERROR_TOO_LARGE
                           : check_values(load_field<void *>(arguments_, operand), values, value_bytes,
                                          memory.range);
            } else {
                return check_values(load_field<void *>(arguments_, operand), problem_.hidden, value_bytes,
                                    memory.range);
            }
        }
    }

    nf_status check_workspace() {
        if (problem_.pass == NF_FORWARD) {
            return NF_SUCCESS;
        }
        const int64_t bytes = gradient_workspace_bytes(problem_, arguments_.rows, groups_);
        if (bytes == 0) {
            return NF_SUCCESS;
        }
        OperandMemory &memory = *written_end_++;
        memory.operand = nullptr;
        constexpr auto value_bytes = static_cast<int64_t>(sizeof(float));
        return check_values(arguments_.workspace, bytes / value_bytes, value_bytes, memory.range);
    }

    const OperandMemory *read_end() const { return read_end_; }
    const OperandMemory *written_end() const { return written_end_; }

private:
    template <const Operand &operand>
    nf_status check_number() const {
        const auto value = load_field<float>(arguments_, operand);
        // Comparisons that a NaN fails.
        if constexpr (operand.id == OperandId::epsilon) {
            return value >= 0 && value <= FLT_MAX ? NF_SUCCESS : NF_ERROR_BAD_EPSILON;
        } else {
            static_assert(operand.id == OperandId::scale);
            return value >= FLT_MIN && value <= FLT_MAX ? NF_SUCCESS : NF_ERROR_BAD_SCALE;
        }
    }

    const NormProblem &problem_;
    const nf_arguments &arguments_;
    const int64_t groups_;
    OperandMemory *read_end_;
    OperandMemory *written_end_;
};

}  // namespace

Fault check_arguments(const NormProblem &problem, const nf_arguments &arguments) {
    if (arguments.rows < 0) {
        return {NF_ERROR_NEGATIVE_ROWS, "rows"};
    }
    if (arguments.groups < 0) {
        return {NF_ERROR_NEGATIVE_ROWS, "groups"};
    }
    OperandMemory read[kOperandCount];
    OperandMemory written[kOperandCount + 1];  // and the workspace
    ArgumentChecks checks(problem, arguments, read, written);
    Fault fault = kNoFault;
    const auto check = [&](auto index) {
        constexpr const Operand &operand = kOperands[index];
        fault = {checks.check_operand<operand>(), operand.name};
        return fault.status == NF_SUCCESS;
    };
    if (arguments.rows > 0) {
        visit_operands(check);
    } else {
        check(operand_index<OperandId::dweight>) && check(operand_index<OperandId::dbias>);
    }
    if (fault.status != NF_SUCCESS) {
        return fault;
    }
    if (nf_status status = checks.check_workspace()) {
        return {status, "workspace"};
    }
    const OperandMemory *overlap =
        find_overlap(problem, arguments, {read, checks.read_end()}, {written, checks.written_end()});
    return overlap ? Fault{NF_ERROR_OVERLAP, (overlap->operand ? overlap->operand->name : "workspace")} : kNoFault;
}

}  // namespace normforge
