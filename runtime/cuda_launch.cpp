#include "runtime/cuda_launch.h"

namespace normforge {

namespace {

constexpr int64_t kMostParameters = 64;

union Value {
    char *pointer;
    int32_t integer;
    float number;
};

Value value_of(const nf_cuda_parameter &parameter, const CudaWork &work) {
    const Operand &operand = kOperands[parameter.operand];
    const nf_arguments &arguments = work.arguments;
    Value value{};
    switch (parameter.source) {
    case NF_CUDA_POINTER:
        value.pointer = load_field<char *>(arguments, operand);
        break;
    case NF_CUDA_ROW_STRIDE:
        value.integer = static_cast<int32_t>(load_field<RowsField>(arguments, operand).row_stride);
        break;
    case NF_CUDA_SLICE_STRIDE:
        value.integer = static_cast<int32_t>(work.slices * load_field<RowsField>(arguments, operand).row_stride);
        break;
    case NF_CUDA_NUMBER:
        value.number = load_field<float>(arguments, operand);
        break;
    case NF_CUDA_ROWS:
        value.integer = static_cast<int32_t>(arguments.rows);
        break;
    case NF_CUDA_SLICES:
        value.integer = static_cast<int32_t>(work.slices);
        break;
    case NF_CUDA_CONTINUES:
        value.integer = work.continues;
        break;
    case NF_CUDA_WORKSPACE:
        value.pointer = static_cast<char *>(arguments.workspace);
        break;
    }
    return value;
}

}  // namespace

nf_status launch(const CudaDriver &driver, const nf_cuda_code &code, CudaFunction *function, void *stream,
                 const CudaWork &work) {
    Value values[kMostParameters];
    void *parameters[kMostParameters];
    for (int64_t index = 0; index < code.parameter_count; index++) {
        values[index] = value_of(code.parameters[index], work);
        parameters[index] = &values[index];
    }
    const auto blocks = static_cast<unsigned>((work.count - 1) / code.rows_of_block + 1);
    const CudaResult launched = driver.cuLaunchKernel(
        function, blocks, 1, 1, static_cast<unsigned>(code.threads_x), static_cast<unsigned>(code.threads_y), 1,
        static_cast<unsigned>(code.shared_bytes), stream, parameters, nullptr);
    return launched == kCudaSuccess ? NF_SUCCESS : NF_ERROR_CUDA_LAUNCH;
}

}  // namespace normforge
