#pragma once

#include "runtime/gradient_tasks.h"
#include "runtime/norm_problem.h"

namespace normforge {

// What is wrong with a call, and the field of nf_arguments to blame; null where none is.
struct Fault {
    nf_status status;
    const char *field;
};

// Everything that normforge.h asks of the arguments of a problem. Without rows it asks only for what is written
// all the same.
//
// Without a fault longest_row_stride is that of the operands that the problem has, or 1 if that is more. Strides
// that are of no meaning, those of a single row, count as well; one that is negative counts as too long.
//
// The workspace is that of a call on so many threads, of so many bytes.
using WorkspaceBytes = int64_t (*)(const NormProblem &problem, int64_t rows, int64_t groups, int64_t threads);
Fault check_arguments(const NormProblem &problem, const nf_arguments &arguments, uint64_t &longest_row_stride,
                      int64_t threads = 1, WorkspaceBytes workspace_bytes = gradient_workspace_bytes_on);

constexpr int64_t group_count(const nf_arguments &arguments) {
    return arguments.groups == 0 ? 1 : arguments.groups;
}

}  // namespace normforge
