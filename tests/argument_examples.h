#pragma once

#include <cstdint>
#include <cstring>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

#include "runtime/kernel_table.h"
#include "runtime/operand_fields.h"

namespace normforge {

// Arguments for tests of nf_run, and kernels that record how they were called.

inline void *at(uintptr_t address) {
    return reinterpret_cast<void *>(address);
}

inline uintptr_t address_of(const void *data) {
    return reinterpret_cast<uintptr_t>(data);
}

// Problems that between them have every operand, and one with the fewest.
struct ProblemExample {
    const char *name;
    const char *text;
};
inline void PrintTo(const ProblemExample &example, std::ostream *stream) {
    *stream << example.text;
}
inline constexpr ProblemExample kProblemExamples[] = {
    {"plain", "op=rms_norm,dtype=f32,weight=none,hidden=16"},
    {"static_scale", "op=layer_norm,dtype=f32,output=i8,weight=f16,scale=static,hidden=16"},
    {"forward_all", "op=layer_norm,dtype=bf16,output=f8e4m3,weight=f32,bias=f16,residual=f32,sum=f16,"
                    "saved_statistics=yes,scale=per_row,hidden=16"},
    {"backward_all", "op=layer_norm,pass=backward,dtype=f16,output=f32,weight=f32,bias=bf16,residual=f16,"
                     "saved_statistics=yes,hidden=16"},
    {"backward_sum", "op=rms_norm,pass=backward,dtype=f32,bias=f16,residual=f32,sum=f32,saved_statistics=yes,"
                     "hidden=16"},
};

// Legal arguments: rows and groups without gaps, every operand in a part of the address space of its own, where
// there is no memory. The fields of operands that the problem lacks hold what would be refused.
inline nf_arguments example_arguments(const NormProblem &problem, int64_t rows, int64_t groups = 1) {
    constexpr uintptr_t kApart = uintptr_t{1} << 48;
    nf_arguments arguments;
    std::memset(&arguments, 0xff, sizeof arguments);
    arguments.rows = rows;
    arguments.groups = groups;
    for (const Operand &operand : kOperands) {
        if (operand_type(problem, operand) == NF_NONE) {
            continue;
        }
        char *data = static_cast<char *>(at(kApart * (static_cast<uintptr_t>(operand.id) + 1)));
        if (operand.shape == OperandShape::rows) {
            // Of too many rows any stride will do.
            const auto group_stride = static_cast<int64_t>(static_cast<uint64_t>(rows) * problem.hidden);
            store_field(arguments, operand, RowsField{data, problem.hidden, group_stride});
        } else if (operand.shape == OperandShape::number) {
            store_field(arguments, operand, 0.5f);
        } else {
            store_field(arguments, operand, data);
        }
    }
    arguments.workspace = at(kApart * (kOperandCount + 1));
    return arguments;
}

struct EntryCall {
    std::string entry;
    nf_arguments arguments;
};
inline std::vector<EntryCall> entry_calls;

inline void few_rows(const nf_arguments *arguments) {
    entry_calls.push_back({"few_rows", *arguments});
}
inline void many_rows(const nf_arguments *arguments) {
    entry_calls.push_back({"many_rows", *arguments});
}

// Of forward problems: backward's sums need memory, also of entries that touch none.
inline nf_kernel recording_kernel(const NormProblem &problem) {
    static constexpr nf_variant kVariants[] = {{few_rows, 0, "few_rows", "vector=8", "heuristic"},
                                               {many_rows, 64, "many_rows", "vector=16", "tuned: by hand"}};
    return {problem, 0, "any", std::size(kVariants), kVariants};
}

}  // namespace normforge
