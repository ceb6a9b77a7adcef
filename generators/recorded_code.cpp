#include "generators/recorded_code.h"

#include <map>
#include <memory>

#include "generators/machine_code.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/CodeGen/AsmPrinter.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineLoopInfo.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/ErrorHandling.h"

namespace normforge {

namespace {

using TripCounts = std::map<const llvm::BasicBlock *, std::optional<int64_t>>;

// Of the innermost loop around each block that is in one. Machine code keeps the loops and names their blocks.
TripCounts trip_counts(llvm::Function &function) {
    llvm::PassBuilder passes;
    llvm::FunctionAnalysisManager functions;
    passes.registerFunctionAnalyses(functions);
    auto &evolution = functions.getResult<llvm::ScalarEvolutionAnalysis>(function);
    auto &loops = functions.getResult<llvm::LoopAnalysis>(function);
    TripCounts counts;
    for (const llvm::BasicBlock &block : function) {
        if (const llvm::Loop *loop = loops.getLoopFor(&block)) {
            const unsigned trips = evolution.getSmallConstantTripCount(loop);
            counts[&block] = trips == 0 ? std::nullopt : std::optional<int64_t>(trips);
        }
    }
    return counts;
}

struct Recording {
    const std::string function;
    const TripCounts counts;
    RecordedCode code;
    std::map<const llvm::MCSymbol *, size_t> blocks;  // by the labels where they begin
};

// Notes the graph when all but the printing is done.
class GraphRecorder : public llvm::MachineFunctionPass {
public:
    explicit GraphRecorder(Recording &recording) : MachineFunctionPass(id_), recording_(recording) {}

    void getAnalysisUsage(llvm::AnalysisUsage &usage) const override {
        usage.addRequired<llvm::MachineLoopInfoWrapperPass>();
        usage.setPreservesAll();
        MachineFunctionPass::getAnalysisUsage(usage);
    }

    bool runOnMachineFunction(llvm::MachineFunction &function) override {
        if (function.getName() != recording_.function) {
            return false;
        }
        std::map<const llvm::MachineBasicBlock *, size_t> places;
        for (llvm::MachineBasicBlock &block : function) {
            block.setLabelMustBeEmitted();
            places.emplace(&block, places.size());
            recording_.blocks[block.getSymbol()] = places.at(&block);
        }
        // The entry has no label of its own.
        recording_.blocks[function.getTarget().getSymbol(&function.getFunction())] = 0;
        llvm::MachineLoopInfo &info = getAnalysis<llvm::MachineLoopInfoWrapperPass>().getLI();
        std::map<const llvm::MachineLoop *, int> loops;
        for (const llvm::MachineLoop *loop : info.getLoopsInPreorder()) {
            const llvm::MachineLoop *parent = loop->getParentLoop();
            loops.emplace(loop, static_cast<int>(loops.size()));
            recording_.code.loops.push_back(
                {parent ? loops.at(parent) : -1, places.at(loop->getHeader()), trips_of(*loop, info)});
        }
        for (const llvm::MachineBasicBlock &block : function) {
            const llvm::MachineLoop *loop = info.getLoopFor(&block);
            RecordedBlock &recorded =
                recording_.code.blocks.emplace_back(RecordedBlock{{}, {}, loop ? loops.at(loop) : -1});
            for (const llvm::MachineBasicBlock *successor : block.successors()) {
                recorded.successors.push_back(places.at(successor));
            }
        }
        return false;
    }

private:
    std::optional<int64_t> trips_of(const llvm::MachineLoop &loop, const llvm::MachineLoopInfo &info) const {
        for (const llvm::MachineBasicBlock *block : loop.blocks()) {
            const auto found = recording_.counts.find(block->getBasicBlock());
            if (info.getLoopFor(block) == &loop && found != recording_.counts.end()) {
                return found->second;
            }
        }
        return std::nullopt;
    }

    static inline char id_ = 0;
    Recording &recording_;
};

// In the place of what writes a file.
class InstructionRecorder : public llvm::MCStreamer {
public:
    InstructionRecorder(llvm::MCContext &context, Recording &recording)
        : MCStreamer(context), recording_(recording) {}

    void emitLabel(llvm::MCSymbol *symbol, llvm::SMLoc place) override {
        MCStreamer::emitLabel(symbol, place);
        if (const auto found = recording_.blocks.find(symbol); found != recording_.blocks.end()) {
            block_ = found->second;
            is_inside_ = true;
        } else if (!symbol->isTemporary()) {
            is_inside_ = false;  // another function
        }
    }

    void emitInstruction(const llvm::MCInst &instruction, const llvm::MCSubtargetInfo &) override {
        if (!is_inside_) {
            return;
        }
        llvm::MCInst copy = instruction;
        for (llvm::MCOperand &operand : copy) {
            if (operand.isExpr()) {  // which will be gone
                operand = llvm::MCOperand::createImm(0);
            }
        }
        recording_.code.blocks[block_].instructions.push_back(copy);
    }

    bool emitSymbolAttribute(llvm::MCSymbol *, llvm::MCSymbolAttr) override { return true; }
    void emitCommonSymbol(llvm::MCSymbol *, uint64_t, llvm::Align) override {}

private:
    Recording &recording_;
    size_t block_ = 0;
    bool is_inside_ = false;
};

}  // namespace

RecordedCode record_code(llvm::Module &module, const std::string &function) {
    const std::unique_ptr<llvm::TargetMachine> machine = code_machine(module);
    Recording recording{function, trip_counts(*module.getFunction(function)), {}, {}};
    llvm::legacy::PassManager passes;
    auto *info = new llvm::MachineModuleInfoWrapperPass(machine.get());  // the passes own what is added to them
    llvm::TargetPassConfig *config = machine->createPassConfig(passes);
    passes.add(config);
    passes.add(info);
    if (config->addISelPasses()) {
        llvm::reportFatalInternalError("a target without instruction selection");
    }
    config->addMachinePasses();
    config->setInitialized();
    passes.add(new GraphRecorder(recording));
    auto recorder = std::make_unique<InstructionRecorder>(info->getMMI().getContext(), recording);
    machine->getTarget().createNullTargetStreamer(*recorder);
    passes.add(machine->getTarget().createAsmPrinter(*machine, std::move(recorder)));
    passes.add(llvm::createFreeMachineFunctionPass());
    passes.run(module);
    return std::move(recording.code);
}

}  // namespace normforge
