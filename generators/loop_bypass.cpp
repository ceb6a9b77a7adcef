#include "generators/loop_bypass.h"

#include <algorithm>

#include "llvm/IR/Instructions.h"

namespace normforge {

bool can_be_bypassed(const llvm::Loop &loop) {
    const llvm::BasicBlock *exit = loop.getUniqueExitBlock();
    return loop.getLoopPreheader() && exit && exit->phis().empty() &&
           std::ranges::all_of(loop.blocks(), [&](const llvm::BasicBlock *block) {
               return std::ranges::all_of(*block, [&](const llvm::Instruction &instruction) {
                   return std::ranges::all_of(instruction.users(), [&](const llvm::User *user) {
                       return loop.contains(llvm::cast<llvm::Instruction>(user));
                   });
               });
           });
}

}  // namespace normforge
