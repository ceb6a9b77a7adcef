#include "generators/emit.h"

#include <algorithm>

#include "generators/codegen.h"
#include "generators/lowering.h"
#include "schedules/space.h"
#include "schedules/target.h"

namespace normforge {

namespace {

std::vector<StreamedRows> streamed_rows(const KernelSpec &spec) {
    std::vector<StreamedRows> result;
    for (const Operand &operand : kernel_parameters(spec.problem)) {
        if (spec.knobs.stores == kStreaming && operand.shape == OperandShape::rows &&
            is_written(spec.problem, operand)) {
            result.push_back({operand.offset, element_size(operand_type(spec.problem, operand))});
        }
    }
    return result;
}

GeneratorParams generator_params(const KernelSpec &spec) {
    GeneratorParams params;
    for (const Knob &knob : knob_table()) {
        params[knob.name] = knob_text(knob, spec.knobs.*knob.member);
    }
    return params;
}

std::string lowered_text(const KernelSpec &spec, const std::string &function, Halide::OutputFileType type) {
    require_fit(spec.problem, spec.knobs, spec.target);  // the generator knows the target that is lowered for
    return lower(spec.problem, generator_params(spec), lowering_target(spec.target), function, type);
}

LoweredKernel lowered_kernel(const KernelSpec &spec) {
    const Halide::Target &target = spec.target;
    // On AMD's cores it was not measured, and what normforge is shipped with was measured on them without.
    const bool gathers_stores = !is_for_zen(target);
    LoweredKernel kernel{"",
                         kernel_symbol(spec) + "_halide",
                         kernel_parameters(spec.problem),
                         spec.problem.hidden,
                         spec.problem.portable == NF_NO && has_fma(target),
                         streamed_rows(spec),
                         gathers_stores,
                         {rounds_bfloats(target), sums_word_pairs(target), shuffles_bytes(target),
                          permutes_words(target), permutes_words_at_once(target), stores_narrowed(target)},
                         arm_machine(target)};
    kernel.bitcode = lowered_text(spec, kernel.function, Halide::OutputFileType::bitcode);
    return kernel;
}

}  // namespace

std::string kernel_symbol(const KernelSpec &spec) {
    return hashed_symbol(spec.problem, to_text(spec.knobs) + " " + spec.target.to_string());
}

std::string emit(const KernelSpec &spec, EmitForm form) {
    const std::string symbol = kernel_symbol(spec);
    switch (form) {
    case EmitForm::stmt:
        return lowered_text(spec, symbol + "_halide", Halide::OutputFileType::stmt);
    case EmitForm::object:
        return generate_code(lowered_kernel(spec), symbol, CodegenForm::object);
    case EmitForm::assembly:
        return generate_code(lowered_kernel(spec), symbol, CodegenForm::assembly);
    default:
        return generate_code(lowered_kernel(spec), symbol, CodegenForm::bitcode);
    }
}

KernelCycles simulate(const KernelSpec &spec, const CpuPipeline &cpu, int64_t rows) {
    return compile_and_simulate(spec, cpu, {rows}, {}).front();
}

std::vector<KernelCycles> compile_and_simulate(const KernelSpec &spec, const CpuPipeline &cpu,
                                               const std::vector<int64_t> &rows,
                                               const std::function<void(const std::string &object)> &compiled) {
    std::vector<int64_t> rows_of_pass;
    for (const int64_t count : rows) {
        rows_of_pass.push_back(std::min<int64_t>(count, spec.knobs.block));
    }
    return simulate_code(lowered_kernel(spec), kernel_symbol(spec), cpu, rows_of_pass, compiled);
}

}  // namespace normforge
