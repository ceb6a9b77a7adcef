#pragma once

#include <vector>

#include "Halide.h"
#include "runtime/operands.h"
#include "schedules/gpu_knobs.h"

namespace normforge {

// A GPU schedule in its form with barriers, compiled by Halide for OpenCL and run on the machine's device, with
// the operands copied there and back.
class OpenClKernel {
public:
    OpenClKernel(const NormProblem &problem, const GpuKnobs &knobs);

    // One group of rows, as an entry of a CPU has it: backward's sums are f32 ones.
    void run(const nf_arguments &arguments);

private:
    Halide::Buffer<> buffer(const nf_arguments &arguments, const Operand &operand) const;
    Halide::Buffer<> gradient_buffer(const nf_arguments &arguments, const Operand &operand);
    void set_number(const char *input, int value);
    int slices(const nf_arguments &arguments) const;

    const NormProblem problem_;
    const std::vector<Operand> operands_;  // in the order of the generator's arguments
    Halide::Internal::AbstractGeneratorPtr generator_;
    std::vector<std::vector<Halide::Parameter>> inputs_;  // of the operands that are read
    Halide::Pipeline pipeline_;
    std::vector<float> partial_sums_;  // of all slices, dweight's and dbias's side by side
};

}  // namespace normforge
