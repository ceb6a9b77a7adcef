#pragma once

#include <functional>
#include <string>
#include <vector>

#include "autotune/measure/loaded_kernel.h"
#include "generators/gpu_emit.h"
#include "runtime/gradient_sums.h"
#include "runtime/operand_fields.h"
#include "schedules/target.h"
#include "tests/cuda_stub.h"
#include "tests/sums_kernel.h"

namespace normforge {

// The launches of a kernel for rows by its loops as serial ones of this CPU, for the stub of a driver.
class SerialLaunch {
public:
    SerialLaunch(const NormProblem &problem, const GpuKnobs &knobs, std::vector<nf_cuda_parameter> parameters)
        : problem_(problem), rows_of_block_(knobs.rows), parameters_(std::move(parameters)),
          kernel_(problem, emit_serial({problem, knobs}, kernel_target("host")), kernel_symbol({problem, knobs})) {
    }

    void run(const StubLaunch &launch) { prepare(launch)(); }

    // What the launch does, for later.
    std::function<void()> prepare(const StubLaunch &launch) {
        nf_arguments arguments = arguments_of(launch);
        if (problem_.pass == NF_BACKWARD) {
            wrong_blocks += launch.blocks != (slices_ - 1) / rows_of_block_ + 1;
            return [this, arguments, slices = slices_, continues = continues_] {
                slices_ = slices;
                continues_ = continues;
                for (int64_t slice = 0; slice < slices; slice++) {
                    run_slice(arguments, slice);
                }
            };
        }
        // A kernel of one row a block counts its blocks; the others are told the rows.
        if (arguments.rows == 0) {
            arguments.rows = launch.blocks;
        }
        wrong_blocks += launch.blocks != (arguments.rows - 1) / rows_of_block_ + 1;
        return [this, arguments] { kernel_.kernel().variants[0].entry(&arguments); };
    }

    int64_t wrong_blocks = 0;  // launches that had another number of blocks than the rows need

private:
    // The call that a launch is made for, from its parameters.
    nf_arguments arguments_of(const StubLaunch &launch) {
        nf_arguments arguments{};
        for (size_t index = 0; index < parameters_.size(); index++) {
            const auto &[source, id] = parameters_[index];
            const Operand &operand = kOperands[id];
            const void *value = launch.parameters[index];
            switch (source) {
            case NF_CUDA_ROWS:
                arguments.rows = *static_cast<const int32_t *>(value);
                break;
            case NF_CUDA_SLICES:
                slices_ = *static_cast<const int32_t *>(value);
                break;
            case NF_CUDA_CONTINUES:
                continues_ = *static_cast<const int32_t *>(value) != 0;
                break;
            case NF_CUDA_SLICE_STRIDE:  // the row stride tells it
            case NF_CUDA_WORKSPACE:     // of the sums alone
                break;
            case NF_CUDA_NUMBER:
                store_field(arguments, operand, *static_cast<const float *>(value));
                break;
            case NF_CUDA_POINTER:  // the first member of nf_input and nf_output
                store_field(arguments, operand, *static_cast<char *const *>(value));
                break;
            case NF_CUDA_ROW_STRIDE: {
                auto field = load_field<RowsField>(arguments, operand);
                field.row_stride = *static_cast<const int32_t *>(value);
                store_field(arguments, operand, field);
                break;
            }
            }
        }
        return arguments;
    }

    // By a call for the rows of the slice alone, whose sums are then added where the launch asks for it.
    void run_slice(const nf_arguments &arguments, int64_t slice) {
        nf_arguments part = arguments;
        take_rows<NF_BACKWARD>(problem_, arguments, 0, slice, (arguments.rows - 1 - slice) / slices_ + 1, part);
        std::vector<float> statistics[2], sums[2];
        visit_operands<NF_BACKWARD>(problem_, [&](auto index, nf_dtype) {
            constexpr const Operand &operand = kOperands[index];
            if constexpr (operand.shape == OperandShape::rows) {
                auto field = load_field<RowsField>(part, operand);
                field.row_stride = load_field<RowsField>(arguments, operand).row_stride * slices_;
                store_field(part, operand, field);
            } else if constexpr (operand.shape == OperandShape::row_values) {
                std::vector<float> &values = statistics[operand.id == OperandId::mean];
                const auto *all = load_field<const float *>(arguments, operand);
                for (int64_t row = slice; row < arguments.rows; row += slices_) {
                    values.push_back(all[row]);
                }
                store_field(part, operand, values.data());
            } else if constexpr (is_gradient(operand)) {
                std::vector<float> &values = sums[operand.id == OperandId::dbias];
                values.resize(static_cast<size_t>(problem_.hidden));
                store_field(part, operand, values.data());
            }
            return true;
        });
        kernel_.kernel().variants[0].entry(&part);
        for (const auto &[values, all] : {std::pair{&sums[0], arguments.dweight}, {&sums[1], arguments.dbias}}) {
            float *of_slice = static_cast<float *>(all) + slice * gradient_values(problem_);
            for (size_t index = 0; index < values->size(); index++) {
                of_slice[index] = (continues_ ? of_slice[index] : 0) + (*values)[index];
            }
        }
    }

    const NormProblem problem_;
    const int64_t rows_of_block_;
    int64_t slices_ = 0;
    bool continues_ = false;
    const std::vector<nf_cuda_parameter> parameters_;
    const LoadedKernel kernel_;
};

// The same of the launches that add up partial sums.
class SerialSums {
public:
    SerialSums(const NormProblem &problem, std::vector<nf_cuda_parameter> parameters)
        : parameters_(std::move(parameters)), kernel_(problem, kernel_target("host")) {}

    void run(const StubLaunch &launch) {
        float *partial_sums = nullptr;
        int64_t slices = 0;
        void *dweight = nullptr;
        void *dbias = nullptr;
        for (size_t index = 0; index < parameters_.size(); index++) {
            const auto &[source, id] = parameters_[index];
            const void *value = launch.parameters[index];
            if (source == NF_CUDA_SLICES) {
                slices = *static_cast<const int32_t *>(value);
            } else if (source == NF_CUDA_WORKSPACE) {
                partial_sums = *static_cast<float *const *>(value);
            } else {
                (kOperands[id].id == OperandId::dweight ? dweight : dbias) = *static_cast<void *const *>(value);
            }
        }
        kernel_.run(partial_sums, slices, dweight, dbias);
    }

private:
    const std::vector<nf_cuda_parameter> parameters_;
    SumsKernel kernel_;
};

}  // namespace normforge
