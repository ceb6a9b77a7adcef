#include "generators/row_addresses.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace normforge {

int64_t offset_of_base(const llvm::Value *address, const llvm::Function &entry) {
    constexpr unsigned kAnyDepth = 0;
    const auto *base = llvm::dyn_cast<llvm::LoadInst>(llvm::getUnderlyingObject(address, kAnyDepth));
    if (!base) {
        return -1;
    }
    llvm::APInt offset(64, 0);
    const llvm::Value *argument = base->getPointerOperand()->stripAndAccumulateConstantOffsets(
        entry.getParent()->getDataLayout(), offset, /*AllowNonInbounds=*/true);
    return argument == entry.getArg(0) ? offset.getSExtValue() : -1;
}

}  // namespace normforge
