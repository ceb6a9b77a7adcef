#include "generators/loop_choices.h"

#include <vector>

#include "generators/loop_bypass.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"

namespace normforge {

namespace {

// Selects of vectors, all by one condition that is the same in all lanes.
struct Choices {
    llvm::Value *condition = nullptr;
    std::vector<llvm::SelectInst *> selects;
};

// A condition as one truth value, or null if lanes have their own.
llvm::Value *of_all_lanes(llvm::Value *condition) {
    return condition->getType()->isVectorTy() ? llvm::getSplatValue(condition) : condition;
}

Choices choices_of(const llvm::Loop &loop) {
    if (!loop.isInnermost() || !can_be_bypassed(loop)) {
        return {};
    }
    Choices choices;
    for (llvm::BasicBlock *block : loop.blocks()) {
        for (llvm::Instruction &instruction : *block) {
            auto *select = llvm::dyn_cast<llvm::SelectInst>(&instruction);
            llvm::Value *condition =
                select && select->getType()->isVectorTy() ? of_all_lanes(select->getCondition()) : nullptr;
            if (condition && loop.isLoopInvariant(condition) &&
                (!choices.condition || choices.condition == condition)) {
                choices.condition = condition;
                choices.selects.push_back(select);
            }
        }
    }
    return choices;
}

void resolve(llvm::SelectInst *select, bool condition) {
    select->replaceAllUsesWith(condition ? select->getTrueValue() : select->getFalseValue());
    llvm::RecursivelyDeleteTriviallyDeadInstructions(select);
}

void separate(llvm::Loop &loop, const Choices &choices, llvm::LoopInfo &loops, llvm::DominatorTree &dominators) {
    llvm::BasicBlock *before = loop.getLoopPreheader();
    llvm::BasicBlock *if_false = llvm::SplitBlock(before, before->getTerminator(), &dominators, &loops);
    llvm::ValueToValueMapTy copies;
    llvm::SmallVector<llvm::BasicBlock *> blocks;
    llvm::Loop *copy =
        llvm::cloneLoopWithPreheader(if_false, before, &loop, copies, ".chosen", &loops, &dominators, blocks);
    llvm::remapInstructionsInBlocks(blocks, copies);
    llvm::Instruction *jump = before->getTerminator();
    llvm::IRBuilder<>(jump).CreateCondBr(choices.condition, copy->getLoopPreheader(), if_false);
    jump->eraseFromParent();
    for (llvm::SelectInst *select : choices.selects) {
        resolve(llvm::cast<llvm::SelectInst>(copies[select]), true);
        resolve(select, false);
    }
}

}  // namespace

void separate_loop_choices(llvm::Function &function) {
    llvm::DominatorTree dominators(function);
    llvm::LoopInfo loops(dominators);
    for (llvm::Loop *loop : loops.getLoopsInPreorder()) {
        if (const Choices choices = choices_of(*loop); choices.condition) {
            separate(*loop, choices, loops, dominators);
        }
    }
}

}  // namespace normforge
