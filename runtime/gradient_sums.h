#pragma once

#include "runtime/norm_problem.h"

namespace normforge {

// The sums of weight and bias gradients over all rows. Rows are cut into slices, each slice gives a partial sum in
// f32, and these are added pairwise, in a tree that the number of slices alone decides: the first with the second,
// the third with the fourth, then the first two with the next two. The error grows with the slice and the
// logarithm of the number of slices, not with the rows.
//
// The workspace is a stack of partial sums, of gradient_values() each: hidden f32 of the weight's gradient, then
// hidden of the bias's, each only where the problem has it.
//
// The slices may be a part of all, from first_slice on. What is then left on the stack are the sums of the tree's
// largest subtrees within the part: aligned_run gives the sizes.
class GradientSums {
public:
    GradientSums(const NormProblem &problem, float *workspace, int64_t first_slice = 0);

    // Where to write a slice's partial sums; null for a gradient that the problem lacks.
    float *weight_slot() const;
    float *bias_slot() const;

    // A slice in parts: keep_part puts the slot's sums aside and offers a new one, and add_part adds that to them.
    void keep_part() { count_++; }
    void add_part();

    // The slice whose sums are in the slot is complete.
    void add_slice();

    // Rounds the sums over all slices, at least one, to the types of weight and bias.
    void store(void *dweight, void *dbias);

private:
    float *slot(int64_t index) const { return stack_ + index * slot_values_; }

    const NormProblem &problem_;
    float *stack_;
    int64_t slot_values_;
    int64_t first_slice_;
    int64_t end_;        // of the complete slices
    int64_t count_ = 0;  // of partial sums on the stack
};

// The values of a partial sum: for weight and bias, as the problem has them.
int64_t gradient_values(const NormProblem &problem);

// Adds one partial sum, or a part of it, to another one.
void add_values(float *__restrict sums, const float *__restrict values, int64_t count);

// Rounds the sums over all slices to the types of weight and bias.
void store_gradients(const NormProblem &problem, const float *sums, void *dweight, void *dbias);

// For the slices that make up that many rows in that many groups, both 0 or more; 0 for a forward pass.
int64_t gradient_workspace_bytes(const NormProblem &problem, int64_t rows, int64_t groups);

}  // namespace normforge
