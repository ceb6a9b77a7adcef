#include "generators/lowering.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <system_error>

#include "generators/emit.h"
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

}  // namespace

std::string hashed_symbol(const NormProblem &problem, const std::string &text) {
    char hash[17];
    std::snprintf(hash, sizeof hash, "%016llx", static_cast<unsigned long long>(fnv1a(text)));
    return "nf_" + symbol_name(problem) + "_" + hash;
}

std::optional<ArmMachine> arm_machine(const Halide::Target &target) {
    return is_arm(target)
               ? std::optional(ArmMachine{machine_features(target), vector_bits(target), rounds_bfloats(target)})
               : std::nullopt;
}

std::vector<Operand> kernel_parameters(const NormProblem &problem) {
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

Halide::Internal::AbstractGeneratorPtr norm_generator(const NormProblem &problem, const GeneratorParams &params,
                                                      const Halide::Target &target) {
    GeneratorParams all = params;
    visit_fields(problem, [&](const std::string &name, const auto &field) {
        if (name != "op") {
            all[name] = field_text(field);
        }
    });
    return generator_of(field_text(problem.op), all, target);
}

Halide::Internal::AbstractGeneratorPtr generator_of(const std::string &name, const GeneratorParams &params,
                                                    const Halide::Target &target) {
    auto generator = Halide::Internal::GeneratorRegistry::create(name, Halide::GeneratorContext(target));
    for (const auto &[param, text] : params) {
        generator->set_generatorparam_value(param, text);
    }
    return generator;
}

Halide::Module lowered_module(const NormProblem &problem, const GeneratorParams &params,
                              const Halide::Target &target, const std::string &function) {
    return lowered_module(*norm_generator(problem, params, target), function);
}

Halide::Module lowered_module(Halide::Internal::AbstractGenerator &generator, const std::string &function) {
#ifdef __SANITIZE_ADDRESS__
    // The address sanitizer follows one stack; Halide otherwise lowers on one of its own.
    Halide::set_compiler_stack_size(0);
#endif
    try {
        return generator.build_module(function);
    } catch (const Halide::Error &error) {  // which is no std::exception
        throw CompileFailure(error.what());
    }
}

std::string compiled(const Halide::Module &module, Halide::OutputFileType type) {
    MemoryFile file;
    try {
        module.compile({{type, file.path()}});
    } catch (const Halide::Error &error) {
        throw CompileFailure(error.what());
    }
    return file.contents();
}

std::string lower(const NormProblem &problem, const GeneratorParams &params, const Halide::Target &target,
                  const std::string &function, Halide::OutputFileType type) {
    return compiled(lowered_module(problem, params, target, function), type);
}

}  // namespace normforge
