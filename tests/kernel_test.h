#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "autotune/measure/accuracy_gate.h"
#include "autotune/measure/call_operands.h"
#include "autotune/measure/loaded_kernel.h"
#include "autotune/measure/operand_values.h"
#include "generators/emit.h"
#include "runtime/cpu_features.h"
#include "schedules/space.h"
#include "schedules/target.h"
#include "tests/ordinary_values.h"

namespace normforge {

// Sets of instructions for which tests compile kernels. Those of SSE convert f16 by themselves.
struct Machine {
    const char *name;
    const char *target;
};
inline std::ostream &operator<<(std::ostream &stream, const Machine &machine) {
    return stream << machine.name;
}
inline constexpr Machine kMachines[] = {
    {"host", "host"}, {"sse41", "x86-64-linux-sse41"}, {"avx2", "x86-64-linux-avx2-fma-f16c-avx-sse41"}};
inline constexpr Machine kBaseline = {"sse2", "x86-64-linux"};  // what every one of them has

inline bool can_run(const Halide::Target &target) {
    return (needed_cpu_features(target) & ~cpu_features()) == 0;
}

inline AccuracyGate::Result check_kernel(const AccuracyGate &gate, const KernelSpec &spec) {
    const LoadedKernel kernel(spec.problem, emit(spec, EmitForm::object), kernel_symbol(spec));
    return gate.check(kernel.kernel());
}

inline std::vector<float> &of(OperandValues &values, OperandId id) {
    return values[static_cast<size_t>(id)];
}
inline const std::vector<float> &of(const OperandValues &values, OperandId id) {
    return values[static_cast<size_t>(id)];
}

// The distance from one value of the type to the next, where that number lies.
inline double last_place(nf_dtype type, double number) {
    if (type == NF_I8) {
        return 1;
    }
    const FloatFormat format = float_format(type);
    return std::ldexp(1.0, std::max(std::ilogb(number), 1 - format.bias) - format.stored_bits);
}

// A problem's text as part of a test's name.
inline std::string identifier(std::string text) {
    std::ranges::replace_if(
        text, [](char c) { return c == '=' || c == ','; }, '_');
    return text;
}

// Runs the heuristic's kernels of a machine: what users get who do not tune.
template <typename Parameter>
class KernelTest : public testing::TestWithParam<std::tuple<Machine, Parameter>> {
protected:
    void SetUp() override {
        if (!can_run(target_)) {
            GTEST_SKIP() << "this CPU cannot run " << target_name(target_);
        }
    }

    const Parameter &parameter() const { return std::get<Parameter>(this->GetParam()); }

    const nf_kernel &kernel(const NormProblem &problem) {
        const std::string text = to_text(problem);
        auto found = kernels_.find(text);
        if (found == kernels_.end()) {
            const KernelSpec spec{problem, heuristic(problem, target_), target_};
            found = kernels_.try_emplace(text, problem, emit(spec, EmitForm::object), kernel_symbol(spec)).first;
        }
        return found->second.kernel();
    }

    // What the kernel writes, every operand behind unreadable pages and with a stride of its own.
    OperandValues run(const NormProblem &problem, const OperandValues &values, bool in_place = false) {
        const size_t all = std::max(of(values, OperandId::x).size(), of(values, OperandId::sum).size());
        const CallOperands operands(problem, static_cast<int64_t>(all) / problem.hidden, 1, values);
        const nf_arguments arguments = in_place ? operands.in_place() : operands.arguments();
        const nf_status status = nf_run(&kernel(problem), &arguments);
        EXPECT_EQ(status, NF_SUCCESS) << nf_status_message(status);
        EXPECT_EQ(operands.damaged(arguments), std::nullopt) << "changed what it may not";
        return written_values(problem, arguments);
    }

    // What backward writes after the forward pass, whose values these are but for dy.
    OperandValues run_backward(const NormProblem &backward, const OperandValues &values) {
        NormProblem forward = backward;
        forward.pass = NF_FORWARD;
        OperandValues read = values;
        const OperandValues saved = run(forward, values);
        for (OperandId id : {OperandId::sum, OperandId::mean, OperandId::rstd}) {
            of(read, id) = of(saved, id);
        }
        return run(backward, read);
    }

private:
    const Halide::Target target_ = kernel_target(std::get<Machine>(this->GetParam()).target);
    std::map<std::string, LoadedKernel> kernels_;
};

}  // namespace normforge
