#include "runtime/gradient_sums.h"

#include <algorithm>
#include <bit>

#include "runtime/kernel_table.h"
#include "runtime/operands.h"
#include "runtime/round_values.h"

namespace normforge {

int64_t gradient_values(const NormProblem &problem) {
    const int gradients = (problem.weight != NF_NONE) + (problem.bias != NF_NONE);
    return gradients * problem.hidden;
}

void add_values(float *__restrict sums, const float *__restrict values, int64_t count) {
    constexpr int64_t kAtOnce = 16;  // a number that compilers turn into vectors at any level of optimisation
    int64_t first = 0;
    for (; first + kAtOnce <= count; first += kAtOnce) {
        for (int64_t index = first; index < first + kAtOnce; index++) {
            sums[index] += values[index];
        }
    }
    for (; first < count; first++) {
        sums[first] += values[first];
    }
}

void store_gradients(const NormProblem &problem, const float *sums, void *dweight, void *dbias) {
    const float *bias_sums = sums + (problem.weight == NF_NONE ? 0 : problem.hidden);
    if (problem.weight != NF_NONE) {
        round_values(dweight, problem.weight, sums, problem.hidden);
    }
    if (problem.bias != NF_NONE) {
        round_values(dbias, problem.bias, bias_sums, problem.hidden);
    }
}

GradientSums::GradientSums(const NormProblem &problem, float *workspace, int64_t first_slice)
    : problem_(problem), stack_(workspace), slot_values_(gradient_values(problem)), first_slice_(first_slice),
      end_(first_slice) {}

float *GradientSums::weight_slot() const {
    return problem_.weight == NF_NONE ? nullptr : slot(count_);
}

float *GradientSums::bias_slot() const {
    return problem_.bias == NF_NONE ? nullptr : slot(count_) + slot_values_ - problem_.hidden;
}

void GradientSums::add_part() {
    add_values(slot(count_ - 1), slot(count_), slot_values_);
    count_--;
}

void GradientSums::add_slice() {
    end_++;
    for (int64_t run = 2; end_ % run == 0 && end_ - run >= first_slice_; run *= 2) {
        add_part();
    }
    count_++;
}

void GradientSums::store(void *dweight, void *dbias) {
    // Left over are sums of fewer and fewer slices.
    for (count_--; count_ > 0;) {
        add_part();
    }
    store_gradients(problem_, stack_, dweight, dbias);
}

int64_t gradient_slice_rows(const NormProblem &problem) {
    constexpr int64_t kFewest = 8;
    constexpr int64_t kMost = 64;
    constexpr int64_t kBytes = 128 * 1024;
    size_t value_bytes = 0;
    for (OperandId id : {OperandId::x, OperandId::residual, OperandId::sum, OperandId::dy}) {
        value_bytes += element_size(operand_type(problem, operand(id)));
    }
    const int64_t row_bytes = problem.hidden * static_cast<int64_t>(value_bytes);
    const auto rows = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(kBytes / row_bytes)));
    return std::min(std::max(rows, kFewest), kMost);
}

int64_t gradient_workspace_bytes(const NormProblem &problem, int64_t rows, int64_t groups) {
    if (problem.pass != NF_BACKWARD || rows == 0 || groups == 0) {
        return 0;
    }
    const int64_t slice_rows = gradient_slice_rows(problem);
    int64_t slices = 0;
    if (__builtin_mul_overflow((rows - 1) / slice_rows + 1, groups, &slices)) {
        slices = INT64_MAX;
    }
    // The stack holds a sum for each bit of the number of complete slices, and above it a part of the next one.
    const int64_t slots = std::bit_width(static_cast<uint64_t>(slices)) + 1;
    return slots * gradient_values(problem) * static_cast<int64_t>(sizeof(float));
}

}  // namespace normforge
