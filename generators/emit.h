#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "Halide.h"
#include "generators/simulated_cycles.h"
#include "runtime/norm_problem.h"
#include "schedules/knobs.h"

namespace normforge {

// All that decides a kernel's code.
struct KernelSpec {
    NormProblem problem;
    Knobs knobs;
    Halide::Target target;  // from kernel_target()
};

// The C symbol of the kernel's entry, void(const nf_arguments *): the problem in words, then a hash of the rest.
std::string kernel_symbol(const KernelSpec &spec);

// Halide could not compile the kernel; the message is Halide's.
class CompileFailure : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// The only path from a problem, its knobs and a target to code: the tuner measures and the library writer links
// what comes from here. Throws UserError for knobs that do not fit the problem, and CompileFailure.
enum class EmitForm {
    object,    // an ELF object file
    assembly,  // of that object
    bitcode,   // LLVM bitcode, as the object is made from
    stmt,      // Halide's lowered statement, as text
};
std::string emit(const KernelSpec &spec, EmitForm form);

// What the code of emit() takes on a CPU of the target's architecture, simulated, when so many rows are at work.
// Throws as emit() does, and UserError where LLVM has no model of the CPU or of an instruction that is used.
KernelCycles simulate(const KernelSpec &spec, const CpuPipeline &cpu, int64_t rows);

// The same for each number of rows, with emit()'s object, which `compiled` gets before anything is simulated: by
// one compilation.
std::vector<KernelCycles> compile_and_simulate(const KernelSpec &spec, const CpuPipeline &cpu,
                                               const std::vector<int64_t> &rows,
                                               const std::function<void(const std::string &object)> &compiled);

}  // namespace normforge
