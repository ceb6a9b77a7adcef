#include "generators/gpu_launch.h"

#include <cstdio>
#include <cstdlib>

#include "generators/lowering.h"

namespace normforge {

using namespace Halide;
using namespace Halide::Internal;

namespace {

[[noreturn]] void broken(const std::string &what) {
    std::fprintf(stderr, "normforge: internal error in a GPU kernel's launch: %s\n", what.c_str());
    std::abort();
}

int64_t constant(const Expr &value) {
    const auto known = as_const_int(simplify(value));
    if (!known) {
        broken("a size of the block is not known beforehand");
    }
    return *known;
}

class LaunchReader : public IRVisitor {
public:
    LaunchReader(const LoweredFunc &host, const NormProblem &problem) : host_(host), problem_(problem) {
        host.body.accept(this);
    }

    int launches = 0;
    GpuLaunch launch{};

private:
    using IRVisitor::visit;

    // halide_cuda_run(state, name, blocks x y z, threads x y z, shared bytes, sizes, parameters, which are
    // buffers)
    void visit(const Call *op) override {
        if (op->name == "halide_cuda_run") {
            launches++;
            launch.threads_x = constant(op->args.at(5));
            launch.threads_y = constant(op->args.at(6));
            launch.shared_bytes = constant(op->args.at(8));
            const Call *parameters = op->args.at(10).as<Call>();
            if (!parameters || !is_const_one(op->args.at(7))) {
                broken("not the launch that the runtime makes");
            }
            for (size_t index = 0; index + 1 < parameters->args.size(); index++) {  // a null is the last
                launch.parameters.push_back(parameter(parameters->args[index]));
            }
        }
        IRVisitor::visit(op);
    }

    nf_cuda_parameter parameter(const Expr &value) const {
        // A buffer, or a pointer to a number.
        const Call *pointer = value.as<Call>();
        const Variable *variable = (pointer ? pointer->args.at(0) : value).as<Variable>();
        const Cast *cast = (pointer ? pointer->args.at(0) : value).as<Cast>();
        if (cast) {
            variable = cast->value.as<Variable>();
        }
        if (!variable) {
            broken("a parameter is computed on the host");
        }
        const std::vector<Operand> operands = kernel_parameters(problem_);
        for (size_t index = 0; index < operands.size(); index++) {
            const std::string &name = host_.args.at(index).name;
            const auto id = static_cast<int64_t>(operands[index].id);
            if (variable->name == name + ".buffer") {
                return {NF_CUDA_POINTER, id};
            }
            if (variable->name == name && operands[index].shape == OperandShape::number) {
                return {NF_CUDA_NUMBER, id};
            }
            if (variable->name == name + ".stride.1" && operands[index].shape == OperandShape::rows) {
                return {NF_CUDA_ROW_STRIDE, id};
            }
            if (variable->name == name + ".extent.1" && operands[index].shape == OperandShape::rows) {
                return {NF_CUDA_ROWS, id};
            }
        }
        broken("no operand has the parameter " + variable->name);
    }

    const LoweredFunc &host_;
    const NormProblem &problem_;
};

}  // namespace

GpuLaunch gpu_launch(const Module &module, const NormProblem &problem) {
    if (module.functions().size() != 1) {
        broken("not one function");
    }
    LaunchReader reader(module.functions().front(), problem);
    if (reader.launches != 1) {
        broken("not one launch");
    }
    return reader.launch;
}

}  // namespace normforge
