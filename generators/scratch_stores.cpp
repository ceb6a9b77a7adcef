#include "generators/scratch_stores.h"

#include <vector>

#include "llvm/IR/DataLayout.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

namespace normforge {

namespace {

// Whether all of the vector lies in one piece of the function's memory.
bool is_in_scratch(const llvm::Value *address, llvm::Type *vector, const llvm::DataLayout &layout) {
    llvm::APInt offset(64, 0);
    const auto *scratch = llvm::dyn_cast<llvm::AllocaInst>(
        address->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true));
    const auto bytes = scratch ? scratch->getAllocationSize(layout) : std::nullopt;
    return bytes && !bytes->isScalable() && offset.getSExtValue() >= 0 &&
           offset.getZExtValue() + layout.getTypeStoreSize(vector).getFixedValue() <= bytes->getFixedValue();
}

}  // namespace

void store_whole_scratch_vectors(llvm::Module &module) {
    for (llvm::Function &function : module) {
        std::vector<llvm::IntrinsicInst *> stores;
        for (llvm::Instruction &instruction : llvm::instructions(function)) {
            auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
            if (call && call->getIntrinsicID() == llvm::Intrinsic::masked_store &&
                llvm::isa<llvm::FixedVectorType>(call->getArgOperand(0)->getType()) &&
                is_in_scratch(call->getArgOperand(1), call->getArgOperand(0)->getType(), module.getDataLayout())) {
                stores.push_back(call);
            }
        }
        for (llvm::IntrinsicInst *store : stores) {
            llvm::Value *values = store->getArgOperand(0);
            llvm::Value *address = store->getArgOperand(1);
            llvm::Value *mask = store->getArgOperand(store->arg_size() - 1);
            llvm::IRBuilder<> builder(store);
            const llvm::Align alignment = store->getParamAlign(1).valueOrOne();
            llvm::Value *before = builder.CreateAlignedLoad(values->getType(), address, alignment);
            builder.CreateAlignedStore(builder.CreateSelect(mask, values, before), address, alignment);
            store->eraseFromParent();
        }
    }
}

}  // namespace normforge
