#include "generators/pipeline_simulator.h"

#include "runtime/user_error.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCInstrAnalysis.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/MCA/Context.h"
#include "llvm/MCA/CustomBehaviour.h"
#include "llvm/MCA/IncrementalSourceMgr.h"
#include "llvm/MCA/InstrBuilder.h"
#include "llvm/MCA/Pipeline.h"
#include "llvm/Support/Error.h"

namespace normforge {

namespace {

constexpr unsigned kCallLatency = 100;  // in cycles; forward kernels call nothing

}  // namespace

struct PipelineSimulator::Machine {
    const CpuPipeline cpu;
    const llvm::Target *target;
    std::unique_ptr<llvm::MCRegisterInfo> registers;
    std::unique_ptr<llvm::MCInstrInfo> instructions;
    std::unique_ptr<llvm::MCInstrAnalysis> analysis;
    std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
};

PipelineSimulator::PipelineSimulator(const llvm::Triple &triple, const CpuPipeline &cpu) {
    std::string error;
    const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
    if (!target) {
        llvm::reportFatalInternalError(llvm::StringRef(error));
    }
    machine_.reset(
        new Machine{cpu, target, std::unique_ptr<llvm::MCRegisterInfo>(target->createMCRegInfo(triple)),
                    std::unique_ptr<llvm::MCInstrInfo>(target->createMCInstrInfo()), nullptr,
                    std::unique_ptr<llvm::MCSubtargetInfo>(target->createMCSubtargetInfo(triple, cpu.name, ""))});
    machine_->analysis.reset(target->createMCInstrAnalysis(machine_->instructions.get()));
    if (!machine_->subtarget->isCPUStringValid(cpu.name) ||
        !machine_->subtarget->getSchedModel().hasInstrSchedModel() ||
        !machine_->subtarget->getSchedModel().isOutOfOrder()) {
        throw UserError("LLVM has no model of " + cpu.name + " that executes out of order");
    }
}

PipelineSimulator::~PipelineSimulator() = default;

double PipelineSimulator::cycles(const std::vector<const llvm::MCInst *> &sequence) const {
    if (sequence.empty()) {
        return 0;
    }
    const Machine &m = *machine_;
    llvm::mca::InstrumentManager instruments(*m.subtarget, *m.instructions);
    llvm::mca::InstrBuilder builder(*m.subtarget, *m.instructions, *m.registers, m.analysis.get(), instruments,
                                    kCallLatency);
    std::unique_ptr<llvm::mca::InstrPostProcess> corrections(
        m.target->createInstrPostProcess(*m.subtarget, *m.instructions));
    llvm::mca::IncrementalSourceMgr source;
    for (const llvm::MCInst *instruction : sequence) {
        if (m.instructions->get(instruction->getOpcode()).isReturn()) {
            continue;  // the last one; MCA warns of it
        }
        llvm::Expected<std::unique_ptr<llvm::mca::Instruction>> made = builder.createInstruction(*instruction, {});
        if (!made) {
            llvm::consumeError(made.takeError());
            throw UserError("LLVM's model of " + m.cpu.name + " lacks the instruction " +
                            m.instructions->getName(instruction->getOpcode()).str());
        }
        if (corrections) {
            corrections->postProcessInstruction(**made, *instruction);
        }
        source.addInst(std::move(*made));
    }
    source.endOfStream();
    llvm::mca::CustomBehaviour behaviour(*m.subtarget, source, *m.instructions);
    llvm::mca::Context context(*m.registers, *m.subtarget);
    const llvm::mca::PipelineOptions options(0, 0, static_cast<unsigned>(m.cpu.dispatch_width), 0, 0, 0, true);
    std::unique_ptr<llvm::mca::Pipeline> pipeline = context.createDefaultPipeline(options, source, behaviour);
    llvm::Expected<unsigned> cycles = pipeline->run();
    if (!cycles) {
        llvm::reportFatalInternalError(cycles.takeError());
    }
    return *cycles;
}

}  // namespace normforge
