#pragma once

#include <iterator>

#include "runtime/kernel_table.h"
#include "runtime/operands.h"

namespace normforge {

// A table with one kernel of a problem, by hand, for the stub of a driver.
class CudaExample {
public:
    explicit CudaExample(const NormProblem &problem)
        : entry_{problem, "cuda", "by hand", "heuristic", std::ssize(codes_), codes_} {}
    CudaExample(const CudaExample &) = delete;
    CudaExample &operator=(const CudaExample &) = delete;

    const nf_library &library() const { return library_; }

private:
    static constexpr int64_t id(OperandId operand) { return static_cast<int64_t>(operand); }

    const nf_cuda_parameter parameters_[6] = {
        {NF_CUDA_POINTER, id(OperandId::weight)}, {NF_CUDA_POINTER, id(OperandId::x)},
        {NF_CUDA_POINTER, id(OperandId::y)},      {NF_CUDA_ROW_STRIDE, id(OperandId::x)},
        {NF_CUDA_NUMBER, id(OperandId::epsilon)}, {NF_CUDA_ROWS, 0}};
    const nf_cuda_code codes_[2] = {
        {"image of vectors", "vectors", std::ssize(parameters_), parameters_, 4, 4, 32, 4, 0},
        {"image of values", "values", std::ssize(parameters_), parameters_, 1, 4, 32, 4, 64 << 10}};
    const nf_cuda_entry entry_;
    const nf_library library_ = {0, nullptr, 1, &entry_};
};

}  // namespace normforge
