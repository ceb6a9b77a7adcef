#include <algorithm>
#include <atomic>

#include "runtime/check_arguments.h"
#include "runtime/float_control.h"
#include "runtime/gradient_tasks.h"
#include "runtime/run_rows.h"
#include "runtime/tasks.h"
#include "runtime/vector_length.h"

namespace normforge {

namespace {

// A call cut into tasks.
struct Tasks {
    const CheckedCall &call;
    int64_t count;
    FloatControl float_control;
    uint64_t cpu_features;               // that the kernel needs
    std::atomic<bool> &has_run_through;  // every task
};

// The calling thread's registers have been looked at, but a task may run on another thread.
bool can_run(const Tasks &tasks) {
    const bool can = has_vector_length(tasks.cpu_features);
    if (!can) {
        tasks.has_run_through.store(false, std::memory_order_relaxed);
    }
    return can;
}

// Kernels take rows in blocks, for which weight and bias are loaded once: tasks begin at multiples of the largest
// of them where that makes no task much longer than another.
int64_t rows_of_block(int64_t rows, int64_t tasks) {
    constexpr int64_t kLargest = 16;
    constexpr int64_t kBlocksOfTask = 8;
    int64_t block = kLargest;
    while (block > 1 && rows / tasks < kBlocksOfTask * block) {
        block /= 2;
    }
    return block;
}

// Counted over all groups.
int64_t first_row(const Tasks &tasks, int64_t task) {
    const int64_t rows = tasks.call.arguments.rows;
    const int64_t all_rows = rows * group_count(tasks.call.arguments);
    const int64_t row = first_of_task(all_rows, tasks.count, task);
    return row - row % rows % rows_of_block(all_rows, tasks.count);
}

void run_forward_task(void *argument, int64_t task) {
    const auto &tasks = *static_cast<const Tasks *>(argument);
    if (!can_run(tasks)) {
        return;
    }
    const BorrowedFloatControl control(tasks.float_control);
    run_rows(tasks.call, first_row(tasks, task), first_row(tasks, task + 1));
}

struct BackwardTasks : Tasks {
    const GradientTasks &gradients;
};

void run_backward_task(void *argument, int64_t task) {
    const auto &tasks = *static_cast<const BackwardTasks *>(argument);
    if (!can_run(tasks)) {
        return;
    }
    const BorrowedFloatControl control(tasks.float_control);
    const int64_t first = tasks.gradients.first_slice(task);
    GradientSums sums(tasks.call.problem, tasks.gradients.workspace(task), first);
    run_slices(tasks.call, first, tasks.gradients.first_slice(task + 1), sums);
}

// Whether all tasks have run.
bool run_tasks(const CheckedCall &call, int64_t count, uint64_t cpu_features, const nf_threads &threads) {
    const nf_arguments &arguments = call.arguments;
    const int64_t task_bytes = arguments.rows * group_count(arguments) * row_bytes(call.problem) / count;
    std::atomic<bool> has_run_through{true};
    Tasks tasks{call, count, float_control(), cpu_features, has_run_through};
    if (call.problem.pass == NF_FORWARD) {
        threads.parallel_for(threads.context, count, run_forward_task, &tasks, task_bytes);
        return has_run_through.load(std::memory_order_relaxed);
    }
    const GradientTasks gradients(
        call.problem, gradient_slices(call.problem, arguments), count,
        gradient_values_of_task(call.problem, arguments.rows, group_count(arguments), threads.count),
        arguments.workspace);
    BackwardTasks backward_tasks{tasks, gradients};
    threads.parallel_for(threads.context, count, run_backward_task, &backward_tasks, task_bytes);
    if (!has_run_through.load(std::memory_order_relaxed)) {
        return false;
    }
    gradients.store(arguments.dweight, arguments.dbias);
    return true;
}

}  // namespace

}  // namespace normforge

using namespace normforge;

nf_status nf_run_on(const nf_kernel *kernel, const nf_arguments *arguments, const nf_threads *threads) {
    if (!kernel || !arguments || !threads || threads->count < 2) {
        return nf_run(kernel, arguments);
    }
    if (!threads->parallel_for) {
        return NF_ERROR_NULL_ARGUMENT;
    }
    const NormProblem &problem = kernel->problem;
    const int64_t tasks = task_count(problem, arguments->rows, arguments->groups, threads->count);
    if (tasks == 1) {
        return nf_run(kernel, arguments);
    }
    if (!has_vector_length(kernel->cpu_features)) {
        return NF_ERROR_CPU_LACKS_FEATURES;
    }
    uint64_t longest_row_stride = 0;
    if (check_arguments(problem, *arguments, longest_row_stride, threads->count).status != NF_SUCCESS) {
        // What nf_operand_at_fault names is at fault with one thread too.
        const nf_status of_one_thread = check_arguments(problem, *arguments, longest_row_stride).status;
        return of_one_thread == NF_SUCCESS ? NF_ERROR_SHORT_WORKSPACE : of_one_thread;
    }
    const CheckedCall call = checked_call(*kernel, *arguments, longest_row_stride);
    return run_tasks(call, tasks, kernel->cpu_features, *threads) ? NF_SUCCESS : NF_ERROR_CPU_LACKS_FEATURES;
}

int64_t nf_workspace_bytes_on(const nf_kernel *kernel, int64_t rows, int64_t groups, int64_t threads) {
    if (!kernel || rows < 0 || groups < 0) {
        return 0;
    }
    return gradient_workspace_bytes_on(kernel->problem, rows, groups == 0 ? 1 : groups, threads);
}
