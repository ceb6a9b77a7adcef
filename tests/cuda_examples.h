#pragma once

#include <iterator>

#include "runtime/kernel_table.h"
#include "runtime/operands.h"

namespace normforge {

// A table with one kernel of a problem, by hand, for the stub of a driver.
class CudaExample {
public:
    explicit CudaExample(const NormProblem &problem)
        : entry_{problem, "cuda", "by hand", "heuristic", std::ssize(codes_), codes_, nullptr} {}
    CudaExample(const CudaExample &) = delete;
    CudaExample &operator=(const CudaExample &) = delete;

    const nf_library &library() const { return library_; }

private:
    static constexpr int64_t id(OperandId operand) { return static_cast<int64_t>(operand); }

    const nf_cuda_parameter parameters_[6] = {
        {NF_CUDA_POINTER, id(OperandId::weight)}, {NF_CUDA_POINTER, id(OperandId::x)},
        {NF_CUDA_POINTER, id(OperandId::y)},      {NF_CUDA_ROW_STRIDE, id(OperandId::x)},
        {NF_CUDA_NUMBER, id(OperandId::epsilon)}, {NF_CUDA_ROWS, 0}};
    const nf_cuda_cubin cubins_[3] = {{80, "for 8.0"}, {86, "for 8.6"}, {90, "for 9.0"}};
    const nf_cuda_code codes_[2] = {
        {"image of vectors", "vectors", std::ssize(parameters_), parameters_, 4, 4, 32, 4, 0, 3, cubins_},
        {"image of values", "values", std::ssize(parameters_), parameters_, 1, 4, 32, 4, 64 << 10, 0, nullptr}};
    const nf_cuda_entry entry_;
    const nf_library library_ = {0, nullptr, 1, &entry_};
};

// The same of gradients of layer_norm.
class CudaGradientExample {
public:
    explicit CudaGradientExample(const NormProblem &problem)
        : entry_{problem, "cuda", "by hand", "heuristic", 1, &rows_, &sums_} {}
    CudaGradientExample(const CudaGradientExample &) = delete;
    CudaGradientExample &operator=(const CudaGradientExample &) = delete;

    const nf_library &library() const { return library_; }

private:
    static constexpr int64_t id(OperandId operand) { return static_cast<int64_t>(operand); }

    const nf_cuda_parameter of_rows_[9] = {{NF_CUDA_POINTER, id(OperandId::x)},
                                           {NF_CUDA_POINTER, id(OperandId::dweight)},
                                           {NF_CUDA_POINTER, id(OperandId::dbias)},
                                           {NF_CUDA_ROW_STRIDE, id(OperandId::dx)},
                                           {NF_CUDA_SLICE_STRIDE, id(OperandId::dx)},
                                           {NF_CUDA_SLICES, 0},
                                           {NF_CUDA_CONTINUES, 0},
                                           {NF_CUDA_ROWS, 0},
                                           {NF_CUDA_POINTER, id(OperandId::mean)}};
    const nf_cuda_parameter of_sums_[4] = {{NF_CUDA_WORKSPACE, 0},
                                           {NF_CUDA_SLICES, 0},
                                           {NF_CUDA_POINTER, id(OperandId::dweight)},
                                           {NF_CUDA_POINTER, id(OperandId::dbias)}};
    const nf_cuda_code rows_ = {"rows", "rows", std::ssize(of_rows_), of_rows_, 1, 4, 32, 4, 0, 0, nullptr};
    const nf_cuda_code sums_ = {"sums", "sums", std::ssize(of_sums_), of_sums_, 1, 32, 32, 32, 0, 0, nullptr};
    const nf_cuda_entry entry_;
    const nf_library library_ = {0, nullptr, 1, &entry_};
};

}  // namespace normforge
