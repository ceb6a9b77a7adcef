#include "runtime/gradient_tasks.h"

#include <algorithm>
#include <bit>

#include "runtime/gradient_sums.h"
#include "runtime/kernel_table.h"
#include "runtime/tasks.h"

namespace normforge {

int64_t aligned_run(int64_t first, int64_t end) {
    const int64_t fitting = std::bit_floor(static_cast<uint64_t>(end - first));
    return first == 0 ? fitting : std::min(fitting, first & -first);
}

GradientTasks::GradientTasks(const NormProblem &problem, int64_t slices, int64_t tasks, int64_t values_of_task,
                             void *workspace)
    : problem_(problem), slices_(slices), tasks_(tasks), values_of_task_(values_of_task),
      workspace_(static_cast<float *>(workspace)) {}

int64_t GradientTasks::first_slice(int64_t task) const {
    return first_of_task(slices_, tasks_, task);
}

void GradientTasks::store(void *dweight, void *dbias) const {
    const int64_t values = gradient_values(problem_);
    float *sums[64];  // one for each bit of the number of slices before the next
    int64_t count = 0;
    const auto add_last_two = [&] {
        add_values(sums[count - 2], sums[count - 1], values);
        count--;
    };
    for (int64_t task = 0; task < tasks_; task++) {
        float *next = workspace(task);
        const int64_t end = first_slice(task + 1);
        for (int64_t slice = first_slice(task); slice < end;) {
            const int64_t run = aligned_run(slice, end);
            sums[count++] = next;
            next += values;
            slice += run;
            for (int64_t runs = slice / run; runs % 2 == 0; runs /= 2) {
                add_last_two();
            }
        }
    }
    while (count > 1) {
        add_last_two();
    }
    store_gradients(problem_, sums[0], dweight, dbias);
}

int64_t gradient_values_of_task(const NormProblem &problem, int64_t rows, int64_t groups, int64_t threads) {
    int64_t slices = 0;
    if (__builtin_mul_overflow((rows - 1) / gradient_slice_rows(problem) + 1, std::max<int64_t>(1, groups),
                               &slices)) {
        slices = INT64_MAX;
    }
    // There may be fewer tasks than threads, but then a task has less than twice NF_TASK_BYTES, whatever the rows.
    const int64_t most_threads = std::min(threads, NF_MAX_THREADS);
    const int64_t slices_of_task =
        std::max((slices - 1) / most_threads + 1, 2 * NF_TASK_BYTES / row_bytes(problem) + 1);
    // A part of the slices has at most two subtrees of a size, which decide the bits of their number, and above
    // them lies a slice's part.
    const int64_t sums = 2 * std::bit_width(static_cast<uint64_t>(slices_of_task));
    return sums * gradient_values(problem);
}

int64_t gradient_workspace_bytes_on(const NormProblem &problem, int64_t rows, int64_t groups, int64_t threads) {
    const int64_t tasks = task_count(problem, rows, groups, threads);
    if (tasks == 1 || problem.pass != NF_BACKWARD) {
        return gradient_workspace_bytes(problem, rows, groups);
    }
    return tasks * gradient_values_of_task(problem, rows, groups, threads) * static_cast<int64_t>(sizeof(float));
}

}  // namespace normforge
