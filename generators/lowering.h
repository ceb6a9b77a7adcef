#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "Halide.h"
#include "generators/codegen.h"
#include "runtime/norm_problem.h"
#include "runtime/operands.h"

namespace normforge {

// Parameters of a generator, as text; a schedule is given by some of the norms'.
using GeneratorParams = std::map<std::string, std::string>;

// A problem's generator, with its parameters set.
Halide::Internal::AbstractGeneratorPtr norm_generator(const NormProblem &problem, const GeneratorParams &params,
                                                      const Halide::Target &target);

// What Halide makes of a problem's generator: a module with a function of that name. Throws CompileFailure.
Halide::Module lowered_module(const NormProblem &problem, const GeneratorParams &params,
                              const Halide::Target &target, const std::string &function);

// The same of any generator.
Halide::Internal::AbstractGeneratorPtr generator_of(const std::string &name, const GeneratorParams &params,
                                                    const Halide::Target &target);
Halide::Module lowered_module(Halide::Internal::AbstractGenerator &generator, const std::string &function);

// A module as bitcode, text or device code. Throws CompileFailure.
std::string compiled(const Halide::Module &module, Halide::OutputFileType type);

// Both.
std::string lower(const NormProblem &problem, const GeneratorParams &params, const Halide::Target &target,
                  const std::string &function, Halide::OutputFileType type);

// Of an ARM target, the machine that LLVM then compiles for.
std::optional<ArmMachine> arm_machine(const Halide::Target &target);

// The function's parameters in their order: what is read comes before what is written, as Halide has it.
std::vector<Operand> kernel_parameters(const NormProblem &problem);

// A C symbol: the problem in words, then a hash of the text that says all else about the kernel.
std::string hashed_symbol(const NormProblem &problem, const std::string &text);

}  // namespace normforge
