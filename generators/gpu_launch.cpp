#include "generators/gpu_launch.h"

#include <cstdio>
#include <cstdlib>
#include <map>

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

// What the host's variables are to the runtime, by name.
using Meanings = std::map<std::string, nf_cuda_parameter>;

// halide_cuda_run(state, name, blocks x y z, threads x y z, shared bytes, sizes, parameters, which are buffers)
class LaunchReader : public IRVisitor {
public:
    LaunchReader(const LoweredFunc &host, const Meanings &meanings) : meanings_(meanings) {
        host.body.accept(this);
    }

    int launches = 0;
    GpuLaunch launch{};

private:
    using IRVisitor::visit;

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
        const auto found = meanings_.find(variable->name);
        if (found == meanings_.end()) {
            broken("nothing that a call has is the parameter " + variable->name);
        }
        return found->second;
    }

    const Meanings &meanings_;
};

const LoweredFunc &only_function(const Module &module) {
    if (module.functions().size() != 1) {
        broken("not one function");
    }
    return module.functions().front();
}

GpuLaunch only_launch(const LoweredFunc &host, const Meanings &meanings) {
    LaunchReader reader(host, meanings);
    if (reader.launches != 1) {
        broken("not one launch");
    }
    return reader.launch;
}

}  // namespace

GpuLaunch gpu_launch(const Module &module, const NormProblem &problem) {
    const LoweredFunc &host = only_function(module);
    Meanings meanings = {{kSlicesInput, {NF_CUDA_SLICES, 0}}, {kContinuesInput, {NF_CUDA_CONTINUES, 0}}};
    auto argument = host.args.begin();
    for (const Operand &operand : kernel_parameters(problem)) {
        while (argument->name == kSlicesInput || argument->name == kContinuesInput) {
            argument++;
        }
        const std::string name = (argument++)->name;
        const auto id = static_cast<int64_t>(operand.id);
        if (operand.shape == OperandShape::number) {
            meanings[name] = {NF_CUDA_NUMBER, id};
            continue;
        }
        meanings[name + ".buffer"] = {NF_CUDA_POINTER, id};
        if (operand.shape == OperandShape::rows) {
            meanings[name + ".stride.1"] = {is_gradient(operand) ? NF_CUDA_SLICE_STRIDE : NF_CUDA_ROW_STRIDE, id};
            meanings[name + ".stride.2"] = {NF_CUDA_ROW_STRIDE, id};
            meanings[name + ".extent.1"] = {NF_CUDA_ROWS, id};
        }
    }
    return only_launch(host, meanings);
}

GpuLaunch gpu_sums_launch(const Module &module, const NormProblem &problem) {
    const LoweredFunc &host = only_function(module);
    auto argument = host.args.begin();
    const std::string partial_sums = (argument++)->name;
    Meanings meanings = {{partial_sums + ".buffer", {NF_CUDA_WORKSPACE, 0}},
                         {partial_sums + ".extent.1", {NF_CUDA_SLICES, 0}}};
    for (const OperandId id : {OperandId::dweight, OperandId::dbias}) {
        if (operand_type(problem, operand(id)) != NF_NONE) {
            meanings[(argument++)->name + ".buffer"] = {NF_CUDA_POINTER, static_cast<int64_t>(id)};
        }
    }
    return only_launch(host, meanings);
}

}  // namespace normforge
