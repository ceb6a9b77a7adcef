#include "generators/gpu_emit.h"

#include <cstdio>
#include <cstdlib>

#include "generators/codegen.h"
#include "generators/lowering.h"
#include "runtime/gradient_sums.h"
#include "schedules/gpu_space.h"
#include "schedules/schedule_gpu_sums.h"
#include "schedules/target.h"

namespace normforge {

namespace {

GeneratorParams generator_params(const GpuKernelSpec &spec) {
    return {{"gpu", to_text(spec.knobs)},
            {"gpu_alignment", spec.alignment == GpuAlignment::vector ? "vector" : "value"}};
}

}  // namespace

std::string kernel_symbol(const GpuKernelSpec &spec) {
    return hashed_symbol(spec.problem, to_text(spec.knobs) + " sm_80" +
                                           (spec.alignment == GpuAlignment::vector ? "" : " any alignment"));
}

static void replace_all(std::string &text, const std::string &from, const std::string &to) {
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
}

// The text of a module's only kernel, for blocks of that many threads.
static std::string device_code(const Halide::Module &module, const std::string &symbol, int threads) {
    std::string code = compiled(module, Halide::OutputFileType::device_code);
    // Halide names the kernel after its loop over blocks.
    const std::string directive = ".visible .entry ";
    const size_t begin = code.find(directive);
    const size_t end = code.find('(', begin);
    if (end == std::string::npos || code.find(directive, end) != std::string::npos) {
        std::fprintf(stderr, "normforge: internal error: not one kernel in Halide's device code\n");
        std::abort();
    }
    const std::string name = code.substr(begin + directive.size(), end - begin - directive.size());
    replace_all(code, name, symbol);
    // Halide takes buffers for apart, but y may be x: what is read does change while the kernel runs.
    replace_all(code, "ld.global.nc.", "ld.global.");
    // The assembler then leaves registers for all threads of a block, without spilling for a second block.
    const size_t body = code.find("\n{", code.find(directive));
    code.insert(body, "\n.maxntid " + std::to_string(threads) + "\n.minnctapersm 1");
    return code;
}

GpuKernel emit_cuda(const GpuKernelSpec &spec) {
    const std::string symbol = kernel_symbol(spec);
    const Halide::Module module =
        lowered_module(spec.problem, generator_params(spec), kernel_target(kCudaTarget), symbol);
    const BlockNeeds needs = block_needs(spec.problem, spec.knobs);
    const std::string text = "// " + to_text(spec.problem) + "\n// " + to_text(spec.knobs) +
                             "\n// threads of a block: " + std::to_string(needs.threads) +
                             "\n// bytes of shared memory, at most: " + std::to_string(needs.shared_bytes) +
                             "\n// bytes moved for a row: " + std::to_string(needs.row_bytes) + "\n";
    return {text + device_code(module, symbol, needs.threads), gpu_launch(module, spec.problem)};
}

bool has_gpu_sums(const NormProblem &problem) {
    return problem.pass == NF_BACKWARD && gradient_values(problem) > 0;
}

std::string gpu_sums_symbol(const NormProblem &problem) {
    return hashed_symbol(problem, "sums sm_80");
}

GeneratorParams gpu_sums_params(const NormProblem &problem) {
    return {{"weight", field_text(problem.weight)},
            {"bias", field_text(problem.bias)},
            {"hidden", std::to_string(problem.hidden)}};
}

GpuKernel emit_cuda_sums(const NormProblem &problem) {
    const std::string symbol = gpu_sums_symbol(problem);
    const Halide::Module module =
        lowered_module(*generator_of("gpu_sums", gpu_sums_params(problem), kernel_target(kCudaTarget)), symbol);
    const std::string text = "// " + to_text(problem) + "\n// adds up the partial sums of dweight and dbias\n";
    return {text + device_code(module, symbol, kSumValues * kSumParts), gpu_sums_launch(module, problem)};
}

std::string emit_ptx(const GpuKernelSpec &spec) {
    const std::string ptx = emit_cuda(spec).ptx;
    if (!has_gpu_sums(spec.problem)) {
        return ptx;
    }
    // Of one text's directives for all of it, once.
    std::string sums = emit_cuda_sums(spec.problem).ptx;
    for (const char *directive : {".version", ".target", ".address_size"}) {
        const size_t begin = sums.find(directive);
        sums.erase(begin, sums.find('\n', begin) + 1 - begin);
    }
    return ptx + "\n" + sums;
}

// Its devices need not have f16.
Halide::Target opencl_target() {
    return kernel_target("x86-64-linux").with_feature(Halide::Target::OpenCL);
}

std::string emit_opencl(const GpuKernelSpec &spec) {
    return lower(spec.problem, generator_params(spec), opencl_target(), kernel_symbol(spec) + "_opencl",
                 Halide::OutputFileType::device_code);
}

std::string emit_gpu_stmt(const GpuKernelSpec &spec) {
    return lower(spec.problem, generator_params(spec), kernel_target(kCudaTarget), kernel_symbol(spec),
                 Halide::OutputFileType::stmt);
}

std::string emit_serial(const GpuKernelSpec &spec, const Halide::Target &target) {
    const std::string symbol = kernel_symbol(spec);
    LoweredKernel kernel{};
    kernel.function = symbol + "_halide";
    kernel.parameters = kernel_parameters(spec.problem);
    kernel.hidden = spec.problem.hidden;
    kernel.contracted = has_fma(target);
    kernel.has_spread_row_values = spec.problem.pass == NF_FORWARD;
    kernel.has_slices = spec.problem.pass == NF_BACKWARD;
    kernel.arm = arm_machine(target);
    kernel.bitcode = lower(spec.problem, generator_params(spec), lowering_target(target), kernel.function,
                           Halide::OutputFileType::bitcode);
    return generate_code(kernel, symbol, CodegenForm::object);
}

}  // namespace normforge
