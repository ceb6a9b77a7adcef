#pragma once

#include "runtime/norm_problem.h"

namespace normforge {

// The sums of weight and bias gradients where tasks share the slices. Each task adds up its own by GradientSums in
// a workspace of its own, and then all that they left is added in the order of the one tree, so that the sums are
// those of GradientSums over all slices, bit for bit.
class GradientTasks {
public:
    GradientTasks(const NormProblem &problem, int64_t slices, int64_t tasks, int64_t values_of_task,
                  void *workspace);

    int64_t first_slice(int64_t task) const;
    float *workspace(int64_t task) const { return workspace_ + task * values_of_task_; }

    // Once all tasks are done.
    void store(void *dweight, void *dbias) const;

private:
    const NormProblem &problem_;
    int64_t slices_;
    int64_t tasks_;
    int64_t values_of_task_;
    float *workspace_;
};

// How many slices the largest subtree has that begins at the slice first and lies before end: a power of two.
int64_t aligned_run(int64_t first, int64_t end);

// f32 values of one task's workspace, in a call on so many threads that has more tasks than one.
int64_t gradient_values_of_task(const NormProblem &problem, int64_t rows, int64_t groups, int64_t threads);

// gradient_workspace_bytes of a call on so many threads. Grows with rows and groups.
int64_t gradient_workspace_bytes_on(const NormProblem &problem, int64_t rows, int64_t groups, int64_t threads);

}  // namespace normforge
