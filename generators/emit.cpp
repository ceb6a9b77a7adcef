#include "generators/emit.h"

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

}  // namespace

std::string kernel_symbol(const KernelSpec &spec) {
    return hashed_symbol(spec.problem, to_text(spec.knobs) + " " + spec.target.to_string());
}

std::string emit(const KernelSpec &spec, EmitForm form) {
    std::string symbol = kernel_symbol(spec);
    const Halide::Target &target = spec.target;
    LoweredKernel kernel{"",
                         symbol + "_halide",
                         kernel_parameters(spec.problem),
                         spec.problem.hidden,
                         spec.problem.portable == NF_NO && has_fma(target),
                         streamed_rows(spec),
                         {rounds_bfloats(target), shuffles_bytes(target), permutes_words(target),
                          permutes_words_at_once(target), stores_narrowed(target)},
                         arm_machine(target)};
    require_fit(spec.problem, spec.knobs, target);  // the generator knows the target that is lowered for
    const auto lowered = [&](Halide::OutputFileType type) {
        return lower(spec.problem, generator_params(spec), lowering_target(target), kernel.function, type);
    };
    if (form == EmitForm::stmt) {
        return lowered(Halide::OutputFileType::stmt);
    }
    kernel.bitcode = lowered(Halide::OutputFileType::bitcode);
    switch (form) {
    case EmitForm::object:
        return generate_code(kernel, symbol, CodegenForm::object);
    case EmitForm::assembly:
        return generate_code(kernel, symbol, CodegenForm::assembly);
    default:
        return generate_code(kernel, symbol, CodegenForm::bitcode);
    }
}

}  // namespace normforge
