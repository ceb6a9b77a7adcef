#include "runtime/check_arguments.h"

#include <algorithm>
#include <cfloat>

#include "runtime/gradient_tasks.h"
#include "runtime/memory_rows.h"
#include "runtime/operand_fields.h"

namespace normforge {

namespace {

constexpr Fault kNoFault{NF_SUCCESS, nullptr};
constexpr MemoryAxis kOnce{1, 0};

// What the checks know of a call's groups when compiled. One group, the usual case, does not pay for more.
enum class Groups { one, any };

struct OperandMemory {
    MemoryRange range;
    int64_t row_bytes;       // 0 for an operand that has no rows
    const Operand *operand;  // null for the workspace
};

MemoryRows rows_of(const NormProblem &problem, const nf_arguments &arguments, const OperandMemory &memory) {
    if (memory.row_bytes == 0) {
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
    const bool have_rows = written.row_bytes != 0 && other.row_bytes != 0;
    if (in_place_allowed && have_rows && is_same_memory(written_rows, other_rows)) {
        return false;
    }
    return may_share_memory(written_rows, other_rows);
}

// Of two operands of one group, whose range and length of a row leave one stride for the rows.
bool are_same_rows(const OperandMemory &a, const OperandMemory &b) {
    return a.range == b.range && a.row_bytes == b.row_bytes && a.row_bytes != 0;
}

// The operand that is written where another one is, or null. What is read lies before first_written.
template <Groups groups>
const OperandMemory *find_overlap(const NormProblem &problem, const nf_arguments &arguments,
                                  const OperandMemory *first_read, const OperandMemory *first_written,
                                  const OperandMemory *written_end) {
    for (const OperandMemory *written = first_written; written < written_end; written++) {
        const MemoryRange range = written->range;
        for (const OperandMemory *other = first_read; other < written; other++) {
            if (!ranges_meet(range, other->range)) {
                continue;
            }
            const bool in_place_allowed = other < first_written;
            // Most calls in place need no more than this.
            const bool in_place = in_place_allowed && groups == Groups::one && are_same_rows(*written, *other);
            if (!in_place && are_shared(problem, arguments, *written, *other, in_place_allowed)) {
                return written;
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

// Checks the operands of a call one by one and collects what the call then needs to know of them. Nothing takes
// its address, so that it lives in registers.
template <nf_pass pass, Groups groups>
class ArgumentChecks {
public:
    // Of the memory, what is written lies from first_written on, and what is read before that.
    ArgumentChecks(const NormProblem &problem, const nf_arguments &arguments, OperandMemory *first_written)
        : problem_(problem), arguments_(arguments),
          group_count_(groups == Groups::one ? 1 : group_count(arguments)), first_read_(first_written),
          written_end_(first_written) {}

    template <size_t index>
    nf_status check_operand(nf_dtype type) {
        constexpr const Operand &operand = kOperands[index];
        if constexpr (operand.shape == OperandShape::number) {
            return check_number<operand.id>();
        } else {
            constexpr bool written = is_written(problem_of_pass(), operand);
            OperandMemory &memory = written ? *written_end_++ : *--first_read_;
            memory.operand = &operand;
            const auto value_bytes = static_cast<int64_t>(element_size(type));
            memory.row_bytes = operand.shape == OperandShape::rows ? problem_.hidden * value_bytes : 0;
            if constexpr (operand.shape == OperandShape::rows) {
                const auto field = load_field<RowsField>(arguments_, operand);
                longest_row_stride_ = std::max(longest_row_stride_, static_cast<uint64_t>(field.row_stride));
                return check_rows(field, {group_count_, field.group_stride}, problem_, arguments_, value_bytes,
                                  written, memory.range);
            } else if constexpr (operand.shape == OperandShape::row_values) {
                int64_t values = 0;
                // The rows of so many values, which are written or were, reach too far as well.
                return __builtin_mul_overflow(arguments_.rows, group_count_, &values)
                           ? NF_ERROR_TOO_LARGE
                           : check_values(load_field<void *>(arguments_, operand), values, value_bytes,
                                          memory.range);
            } else {
                return check_values(load_field<void *>(arguments_, operand), problem_.hidden, value_bytes,
                                    memory.range);
            }
        }
    }

    nf_status check_workspace(int64_t threads, WorkspaceBytes workspace_bytes) {
        if constexpr (pass == NF_FORWARD) {
            return NF_SUCCESS;
        }
        const int64_t bytes = workspace_bytes(problem_, arguments_.rows, group_count_, threads);
        if (bytes == 0) {
            return NF_SUCCESS;
        }
        OperandMemory &memory = *written_end_++;
        memory.operand = nullptr;
        memory.row_bytes = 0;
        constexpr auto value_bytes = static_cast<int64_t>(sizeof(float));
        return check_values(arguments_.workspace, bytes / value_bytes, value_bytes, memory.range);
    }

    const OperandMemory *first_read() const { return first_read_; }
    const OperandMemory *written_end() const { return written_end_; }
    uint64_t longest_row_stride() const { return longest_row_stride_; }

private:
    // The pass alone says what is written.
    static constexpr NormProblem problem_of_pass() {
        NormProblem problem{};
        problem.pass = pass;
        return problem;
    }

    template <OperandId id>
    nf_status check_number() const {
        const auto value = load_field<float>(arguments_, operand(id));
        // Comparisons that a NaN fails.
        if constexpr (id == OperandId::epsilon) {
            return value >= 0 && value <= FLT_MAX ? NF_SUCCESS : NF_ERROR_BAD_EPSILON;
        } else {
            static_assert(id == OperandId::scale);
            return value >= FLT_MIN && value <= FLT_MAX ? NF_SUCCESS : NF_ERROR_BAD_SCALE;
        }
    }

    const NormProblem &problem_;
    const nf_arguments &arguments_;
    const int64_t group_count_;
    OperandMemory *first_read_;
    OperandMemory *written_end_;
    uint64_t longest_row_stride_ = 1;
};

template <nf_pass pass, Groups groups>
Fault check_operands(const NormProblem &problem, const nf_arguments &arguments, uint64_t &longest_row_stride,
                     int64_t threads, WorkspaceBytes workspace_bytes) {
    OperandMemory memory[kOperandCount + kOperandCount + 1];  // read, written and the workspace
    OperandMemory *first_written = memory + kOperandCount;
    ArgumentChecks<pass, groups> checks(problem, arguments, first_written);
    Fault fault = kNoFault;
    const auto check = [&](auto index, nf_dtype type) {
        fault = {checks.template check_operand<index>(type), kOperands[index].name};
        return fault.status == NF_SUCCESS;
    };
    const bool are_legal = arguments.rows > 0
                               ? visit_operands<pass>(problem, check)
                               : visit_operand<pass>(problem, check, operand_index<OperandId::dweight>) &&
                                     visit_operand<pass>(problem, check, operand_index<OperandId::dbias>);
    if (!are_legal) {
        return fault;
    }
    if (nf_status status = checks.check_workspace(threads, workspace_bytes)) {
        return {status, "workspace"};
    }
    longest_row_stride = checks.longest_row_stride();
    const OperandMemory *overlap =
        find_overlap<groups>(problem, arguments, checks.first_read(), first_written, checks.written_end());
    return overlap ? Fault{NF_ERROR_OVERLAP, (overlap->operand ? overlap->operand->name : "workspace")} : kNoFault;
}

}  // namespace

Fault check_arguments(const NormProblem &problem, const nf_arguments &arguments, uint64_t &longest_row_stride,
                      int64_t threads, WorkspaceBytes workspace_bytes) {
    if (arguments.rows < 0) {
        return {NF_ERROR_NEGATIVE_ROWS, "rows"};
    }
    if (arguments.groups < 0) {
        return {NF_ERROR_NEGATIVE_ROWS, "groups"};
    }
    if (problem.pass == NF_BACKWARD) {
        return check_operands<NF_BACKWARD, Groups::any>(problem, arguments, longest_row_stride, threads,
                                                        workspace_bytes);
    }
    return group_count(arguments) == 1
               ? check_operands<NF_FORWARD, Groups::one>(problem, arguments, longest_row_stride, threads,
                                                         workspace_bytes)
               : check_operands<NF_FORWARD, Groups::any>(problem, arguments, longest_row_stride, threads,
                                                         workspace_bytes);
}

}  // namespace normforge
