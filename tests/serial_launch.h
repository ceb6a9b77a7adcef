#pragma once

#include <functional>
#include <string>
#include <vector>

#include "autotune/measure/loaded_kernel.h"
#include "generators/gpu_emit.h"
#include "runtime/operand_fields.h"
#include "schedules/target.h"
#include "tests/cuda_stub.h"

namespace normforge {

// A kernel's launches by its loops as serial ones of this CPU, for the stub of a driver.
class SerialLaunch {
public:
    SerialLaunch(const NormProblem &problem, const GpuKnobs &knobs, std::vector<nf_cuda_parameter> parameters)
        : rows_of_block_(knobs.rows), parameters_(std::move(parameters)),
          kernel_(problem, emit_serial({problem, knobs}, kernel_target("host")), kernel_symbol({problem, knobs})) {
    }

    void run(const StubLaunch &launch) { prepare(launch)(); }

    // What the launch does, for later.
    std::function<void()> prepare(const StubLaunch &launch) {
        nf_arguments arguments = arguments_of(launch);
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
    nf_arguments arguments_of(const StubLaunch &launch) const {
        nf_arguments arguments{};
        for (size_t index = 0; index < parameters_.size(); index++) {
            const auto &[source, id] = parameters_[index];
            const Operand &operand = kOperands[id];
            const void *value = launch.parameters[index];
            switch (source) {
            case NF_CUDA_ROWS:
                arguments.rows = *static_cast<const int32_t *>(value);
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

    const int64_t rows_of_block_;
    const std::vector<nf_cuda_parameter> parameters_;
    const LoadedKernel kernel_;
};

}  // namespace normforge
