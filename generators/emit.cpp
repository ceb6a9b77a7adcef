#include "generators/emit.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <system_error>

#include "generators/codegen.h"
#include "schedules/space.h"
#include "schedules/target.h"

namespace normforge {

namespace {

// A file in memory: Halide can write its results only to a named file.
class MemoryFile {
public:
    MemoryFile() : descriptor_(memfd_create("normforge", MFD_CLOEXEC)) {
        if (descriptor_ < 0) {
            throw std::system_error(errno, std::generic_category(), "memfd_create");
        }
    }
    ~MemoryFile() { close(descriptor_); }
    MemoryFile(const MemoryFile &) = delete;
    MemoryFile &operator=(const MemoryFile &) = delete;

    std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

    std::string contents() const {
        off_t size = lseek(descriptor_, 0, SEEK_END);
        std::string bytes(static_cast<size_t>(size), '\0');
        for (size_t done = 0; done < bytes.size();) {
            ssize_t got = pread(descriptor_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
            if (got <= 0) {
                throw std::system_error(errno, std::generic_category(), "reading a memory file");
            }
            done += static_cast<size_t>(got);
        }
        return bytes;
    }

private:
    int descriptor_;
};

// FNV-1a, 64 bits: stable over machines and releases, as a symbol must be.
uint64_t fnv1a(const std::string &text) {
    uint64_t hash = 0xcbf29ce484222325;
    for (unsigned char c : text) {
        hash = (hash ^ c) * 0x100000001b3;
    }
    return hash;
}

// What is read comes before what is written, as Halide has it.
std::vector<Operand> parameters(const NormProblem &problem) {
    std::vector<Operand> result;
    for (const bool written : {false, true}) {
        for (const Operand &operand : kOperands) {
            if (operand_type(problem, operand) != NF_NONE && is_written(problem, operand) == written) {
                result.push_back(operand);
            }
        }
    }
    return result;
}

std::vector<StreamedRows> streamed_rows(const KernelSpec &spec) {
    std::vector<StreamedRows> result;
    for (const Operand &operand : parameters(spec.problem)) {
        if (spec.knobs.stores == kStreaming && operand.shape == OperandShape::rows &&
            is_written(spec.problem, operand)) {
            result.push_back({operand.offset, element_size(operand_type(spec.problem, operand))});
        }
    }
    return result;
}

std::string lower(const KernelSpec &spec, const std::string &function, Halide::OutputFileType type) {
    require_fit(spec.problem, spec.knobs, spec.target);  // the generator knows the target that is lowered for
    auto generator = Halide::Internal::GeneratorRegistry::create(
        field_text(spec.problem.op), Halide::GeneratorContext(lowering_target(spec.target)));
    visit_fields(spec.problem, [&](const std::string &name, const auto &field) {
        if (name != "op") {
            generator->set_generatorparam_value(name, field_text(field));
        }
    });
    for (const Knob &knob : knob_table()) {
        generator->set_generatorparam_value(knob.name, knob_text(knob, spec.knobs.*knob.member));
    }
    MemoryFile file;
#ifdef __SANITIZE_ADDRESS__
    // The address sanitizer follows one stack; Halide otherwise lowers on one of its own.
    Halide::set_compiler_stack_size(0);
#endif
    try {
        generator->build_module(function).compile({{type, file.path()}});
    } catch (const Halide::Error &error) {  // which is no std::exception
        throw CompileFailure(error.what());
    }
    return file.contents();
}

}  // namespace

std::string kernel_symbol(const KernelSpec &spec) {
    char hash[17];
    std::snprintf(hash, sizeof hash, "%016llx",
                  static_cast<unsigned long long>(fnv1a(to_text(spec.knobs) + " " + spec.target.to_string())));
    return "nf_" + symbol_name(spec.problem) + "_" + hash;
}

std::string emit(const KernelSpec &spec, EmitForm form) {
    std::string symbol = kernel_symbol(spec);
    const Halide::Target &target = spec.target;
    LoweredKernel kernel{"",
                         symbol + "_halide",
                         parameters(spec.problem),
                         spec.problem.hidden,
                         spec.problem.portable == NF_NO && has_fma(target),
                         streamed_rows(spec),
                         {rounds_bfloats(target), shuffles_bytes(target), permutes_words(target),
                          permutes_words_at_once(target), stores_narrowed(target)},
                         {}};
    if (is_arm(target)) {
        kernel.arm = {machine_features(target), vector_bits(target), rounds_bfloats(target)};
    }
    if (form == EmitForm::stmt) {
        return lower(spec, kernel.function, Halide::OutputFileType::stmt);
    }
    kernel.bitcode = lower(spec, kernel.function, Halide::OutputFileType::bitcode);
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
