#include "generators/idle_loops.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "generators/loop_bypass.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"

namespace normforge {

namespace {

// A condition, and what it is where the loop is idle.
struct Idleness {
    llvm::Value *condition;
    bool then;
};

// Whether trips do nothing as long as the branches on the condition go the way that it has then.
bool is_idle(const llvm::Loop &loop, const Idleness &idle) {
    std::vector<const llvm::BasicBlock *> open = {loop.getHeader()};
    std::set<const llvm::BasicBlock *> seen = {loop.getHeader()};
    while (!open.empty()) {
        const llvm::BasicBlock *block = open.back();
        open.pop_back();
        if (std::ranges::any_of(*block,
                                [](const auto &instruction) { return instruction.mayHaveSideEffects(); })) {
            return false;
        }
        const auto *branch = llvm::dyn_cast<llvm::CondBrInst>(block->getTerminator());
        for (unsigned way = 0; way < block->getTerminator()->getNumSuccessors(); way++) {
            const bool is_taken = !branch || branch->getCondition() != idle.condition || (way == 0) == idle.then;
            const llvm::BasicBlock *next = block->getTerminator()->getSuccessor(way);
            if (is_taken && loop.contains(next) && seen.insert(next).second) {
                open.push_back(next);
            }
        }
    }
    return true;
}

std::optional<Idleness> idleness(llvm::Loop &loop) {
    for (llvm::BasicBlock *block : loop.blocks()) {
        const auto *branch = llvm::dyn_cast<llvm::CondBrInst>(block->getTerminator());
        bool has_moved = false;
        if (!branch || !loop.makeLoopInvariant(branch->getCondition(), has_moved)) {
            continue;
        }
        for (const bool then : {false, true}) {
            const Idleness idle{branch->getCondition(), then};
            if (is_idle(loop, idle)) {
                return idle;
            }
        }
    }
    return std::nullopt;
}

}  // namespace

void skip_idle_loops(llvm::Function &function) {
    llvm::DominatorTree dominators(function);
    llvm::LoopInfo loops(dominators);
    for (llvm::Loop *loop : loops) {
        llvm::simplifyLoop(loop, &dominators, &loops, nullptr, nullptr, nullptr, false);
    }
    for (llvm::Loop *loop : loops.getLoopsInPreorder()) {
        const std::optional<Idleness> idle = can_be_bypassed(*loop) ? idleness(*loop) : std::nullopt;
        if (idle) {
            llvm::BasicBlock *before = loop->getLoopPreheader();
            llvm::BasicBlock *exit = loop->getUniqueExitBlock();
            llvm::BasicBlock *entering = llvm::SplitBlock(before, before->getTerminator(), &dominators, &loops);
            llvm::Instruction *jump = before->getTerminator();
            llvm::IRBuilder<>(jump).CreateCondBr(idle->condition, idle->then ? exit : entering,
                                                 idle->then ? entering : exit);
            jump->eraseFromParent();
        }
    }
}

}  // namespace normforge
